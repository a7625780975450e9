import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'svelte/compiler';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8');
const shipped = ['electron', 'src'].flatMap((folder) =>
  fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name)),
);

interface Use {
  /** The name that is called, read or written: `eval`, `.innerHTML`, `{@html}`. */
  readonly name: string;
  /** The source of what is called or of the property's value. */
  readonly text: string;
}

/** What a file calls, which members it touches and which properties it sets, from its syntax and not its text. */
function uses(file: string, source = read(file)): Use[] {
  if (file.endsWith('.svelte')) {
    const found: Use[] = [];
    walk(parse(source, { modern: true, filename: file }), found);
    return found;
  }
  const found: Use[] = [];
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && ts.isIdentifier(node.expression))
      found.push({ name: node.expression.text, text: node.getText() });
    if (ts.isPropertyAccessExpression(node)) found.push({ name: `.${node.name.text}`, text: node.getText() });
    if (ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression))
      found.push({ name: `.${node.argumentExpression.text}`, text: node.getText() });
    // By another way to its name: `const run = eval`, `{ Function: make } = globalThis`.
    if (ts.isIdentifier(node) && isCode(node.text) && !isPartOfType(node))
      found.push({ name: node.text, text: node.parent.getText() });
    if (ts.isStringLiteralLike(node) && isCode(node.text)) found.push({ name: node.text, text: node.text });
    if (ts.isCallExpression(node) && /\bsetAttribute(NS)?$/.test(node.expression.getText()))
      for (const argument of node.arguments.slice(0, 2))
        found.push({
          name: `@${ts.isStringLiteralLike(argument) ? argument.text.toLowerCase() : 'unknown'}`,
          text: node.getText(),
        });
    if (ts.isCallExpression(node) && /\bset(Timeout|Interval)$/.test(node.expression.getText())) {
      const [first] = node.arguments;
      if (first !== undefined && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first)))
        found.push({ name: 'eval', text: node.getText() });
    }
    if (ts.isPropertyAssignment(node))
      found.push({ name: `${node.name.getText()}:`, text: node.initializer.getText() });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const isCode = (name: string): boolean =>
  ['eval', 'Function', 'AsyncFunction', 'GeneratorFunction', 'srcdoc'].includes(name);

/** `Function` is the name of a type too. */
function isPartOfType(node: ts.Node): boolean {
  return ts.isTypeReferenceNode(node.parent) || ts.isExpressionWithTypeArguments(node.parent);
}

/** The same from Svelte's tree, which is ESTree with tags of its own. */
function walk(value: unknown, found: Use[]): void {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Record<string, unknown> & {
    callee?: { name?: string; property?: { name?: string } };
    property?: { name?: string; value?: unknown };
  };
  if (node['type'] === 'HtmlTag') found.push({ name: '{@html}', text: '' });
  if ((node['type'] === 'CallExpression' || node['type'] === 'NewExpression') && node.callee?.name)
    found.push({ name: node.callee.name, text: '' });
  if (node['type'] === 'Identifier' && isCode(String(node['name'])))
    found.push({ name: String(node['name']), text: '' });
  if (node['type'] === 'Literal' && isCode(String(node['value'])))
    found.push({ name: String(node['value']), text: '' });
  if (node['type'] === 'Attribute') found.push({ name: `@${String(node['name']).toLowerCase()}`, text: '' });
  if (node['type'] === 'CallExpression' && node.callee?.property?.name?.startsWith('setAttribute'))
    for (const argument of (node['arguments'] as { type: string; value?: unknown }[]).slice(0, 2))
      found.push({
        name: `@${argument.type === 'Literal' ? String(argument.value).toLowerCase() : 'unknown'}`,
        text: '',
      });
  if (node['type'] === 'MemberExpression') {
    const property = node.property?.name ?? node.property?.value;
    if (typeof property === 'string') found.push({ name: `.${property}`, text: '' });
  }
  for (const [key, member] of Object.entries(node)) if (key !== 'parent') walk(member, found);
}

const sources = shipped.filter((file) => /\.(ts|svelte)$/.test(file) && !file.endsWith('.d.ts'));
const all = sources.flatMap((file) => uses(file).map((use) => ({ ...use, file })));
const where = (...names: string[]): string[] => [
  ...new Set(all.filter(({ name }) => names.includes(name)).map(({ file }) => file)),
];

describe('markup and code from strings', () => {
  const banned = [
    '{@html}',
    'eval',
    'Function',
    '.innerHTML',
    '.outerHTML',
    '.insertAdjacentHTML',
    '.srcdoc',
    'srcdoc',
    '@srcdoc',
    '.eval',
    '.Function',
    'AsyncFunction',
    'GeneratorFunction',
  ];
  const more = ['.createContextualFragment', '.setHTMLUnsafe', '.parseFromString', '.write', '.writeln'];

  test('are nowhere', () => {
    expect(where(...banned)).toEqual([]);
    expect(where(...more).filter((file) => file.startsWith('src'))).toEqual([]);
    // An attribute whose name is not written out, or that is a script.
    const attributes = all.filter(
      ({ name, file }) => file.startsWith('src') && /^@(unknown|on[a-z]+)$/.test(name),
    );
    expect(attributes.filter(({ file, text }) => file.endsWith('.ts') && text !== '')).toEqual([]);
  });

  test('would be seen', () => {
    const names = (file: string, source: string) => uses(file, source).map(({ name }) => name);
    expect(names('x.svelte', '<p>{@html text}</p>')).toContain('{@html}');
    expect(names('x.svelte', '<script>a.innerHTML = b; eval(c)</script>')).toEqual(
      expect.arrayContaining(['.innerHTML', 'eval']),
    );
    for (const file of ['x.ts', 'x.svelte'])
      for (const [source, found] of [
        ['globalThis.eval(text)', '.eval'],
        ['new globalThis.Function(text)', '.Function'],
        ['(0, eval)(text)', 'eval'],
        ['const run = eval', 'eval'],
        ['const { Function: make } = globalThis', 'Function'],
        ['globalThis["ev" + "al"]; Reflect.get(globalThis, "eval")', 'eval'],
        ['frame.setAttribute("srcdoc", text)', '@srcdoc'],
        ['frame.setAttribute("SRCDOC", text)', '@srcdoc'],
        ['frame.setAttributeNS(null, "srcdoc", text)', '@srcdoc'],
        ['frame.srcdoc = text', '.srcdoc'],
        ['Object.assign(frame, { srcdoc: text })', 'srcdoc'],
      ] as const)
        expect([source, names(file, file === 'x.ts' ? source : `<script>${source}</script>`)]).toEqual([
          source,
          expect.arrayContaining([found]),
        ]);
    expect(names('x.ts', 'setTimeout("code")')).toContain('eval');
    expect(names('x.svelte', '<iframe srcdoc={text}></iframe>')).toContain('@srcdoc');
    expect(names('x.ts', 'a["innerHTML"] = b; new Function("c"); eval(d)')).toEqual(
      expect.arrayContaining(['.innerHTML', 'Function', 'eval']),
    );
  });
});

test('the window asks nothing of the network', () => {
  const network = ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', '.sendBeacon', 'RTCPeerConnection'];
  expect(where(...network).filter((file) => file.startsWith('src'))).toEqual([]);
});

test('the window keeps nothing in the browser', () => {
  const stores = ['.localStorage', '.sessionStorage', '.indexedDB', '.cookie', '.caches', '.setItem'];
  expect(where(...stores).filter((file) => file.startsWith('src'))).toEqual([]);
  for (const file of sources.filter((name) => name.startsWith('src')))
    expect([file, /\b(localStorage|sessionStorage|indexedDB)\b/.test(read(file))]).toEqual([file, false]);
});

test('window preferences are literals, each of them', () => {
  const file = 'electron/platform/window.ts';
  const [preferences] = uses(file).filter(({ name }) => name === 'webPreferences:');
  const members = uses('x.ts', `const x = ${preferences?.text ?? ''}`).filter(({ name }) =>
    name.endsWith(':'),
  );
  expect(members.length).toBeGreaterThan(10);
  expect(members.filter(({ text }) => text !== 'true' && text !== 'false')).toEqual([]);
  const value = Object.fromEntries(members.map(({ name, text }) => [name, text]));
  expect(value).toMatchObject({
    'sandbox:': 'true',
    'contextIsolation:': 'true',
    'nodeIntegration:': 'false',
    'spellcheck:': 'false',
    'devTools:': 'false',
  });
  expect(where('webPreferences:')).toEqual([file]);
});

test('all that a keyring holds is never asked for', () => {
  expect(where('.findCredentials')).toEqual([]);
});

test('the verification of certificates has no off switch', () => {
  const set = all.filter(({ name }) => name === 'rejectUnauthorized:');
  expect(set.length).toBeGreaterThan(0);
  expect(set.filter(({ text }) => text !== 'true')).toEqual([]);
  // Two kinds of connections: to the service and to a proxy.
  const oldest = all.filter(({ name }) => name === 'minVersion:');
  expect(oldest.filter(({ text }) => !/^'TLSv1\.[23]'$/.test(text))).toEqual([]);
  expect(oldest.filter(({ file }) => file === 'electron/service/http/transport.ts')).toHaveLength(2);
  // One function looks at the name and at the pins; nothing takes its place.
  const checks = all.filter(({ name }) => name === 'checkServerIdentity:');
  expect(checks.map(({ file }) => file)).toEqual(['electron/service/http/transport.ts']);
  const loosening = /NODE_TLS_REJECT_UNAUTHORIZED['"]?\]?\s*=|ignore-certificate-errors|ignoreHTTPSErrors/;
  expect(sources.filter((file) => loosening.test(read(file)))).toEqual([]);
});

test('connections are made in one place', () => {
  // The command `--conformance` sends what no client may: it has connections of its own, and no page reaches it.
  const isChecker = (file: string): boolean => file.startsWith('electron/conformance/');
  const makers = where('Pool', 'ProxyAgent', 'Agent', 'EnvHttpProxyAgent');
  expect(makers.filter((file) => !isChecker(file))).toEqual(['electron/service/http/transport.ts']);
  const senders = /^import \{[^}]*\} from '(undici|node:https?|node:http2)'/m;
  const outside = sources.filter(
    (file) => senders.test(read(file)) && !file.startsWith('electron/built-in-service/'),
  );
  expect(outside.filter((file) => !isChecker(file))).toEqual(['electron/service/http/transport.ts']);
});

test('the window bundles no schema: the first one made asks whether code may be compiled', () => {
  const values = /^\s*(?:import|export)\s+(?!type\b)[^;]*?from '([^']*\/electron\/contract\/[^']+)'/gm;
  const taken = shipped
    .filter((file) => file.startsWith('src/') && /\.(ts|svelte)$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(values)].map(([, from = '']) => path.join(path.dirname(file), from)),
    );
  expect(taken).toContain('electron/contract/obscured.ts');
  // What those take in turn: files beside them, and no package.
  const reached = new Set(taken);
  const others: string[] = [];
  for (const module of reached)
    for (const [, from = ''] of read(module).matchAll(/^import (?!type\b)[^;]*?from '([^']+)'/gm))
      if (from.startsWith('.')) reached.add(path.join(path.dirname(module), from));
      else others.push(`${module}: ${from}`);
  expect(reached).toContain('electron/contract/pages.ts');
  expect(others).toEqual([]);
});
