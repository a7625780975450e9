import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** One defence, broken: the text of a file from `start` to `end` becomes `to`. */
export interface Break {
  readonly file: string;
  readonly line: number;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

/** Where defences are: what decides, refuses, encrypts, verifies or removes. */
const defences = [
  'electron/privacy',
  'electron/masking',
  'electron/audit',
  'electron/settings',
  'electron/storage',
  'electron/ipc',
  'electron/evidence',
  'electron/connections/store.ts',
  'electron/connections/draft.ts',
  'electron/connections/removal.ts',
  'electron/connections/profiles.ts',
  'electron/connections/deployment.ts',
  'electron/connections/calls.ts',
  'electron/connections/client-certificates.ts',
  'electron/app/changed-outside.ts',
  'electron/app/lifecycle.ts',
  'electron/platform/denials.ts',
  'electron/platform/protocol.ts',
  'electron/service/profile.ts',
  'electron/service/pins.ts',
  'electron/service/addresses.ts',
  'electron/service/http/certificates.ts',
  'electron/service/http/transport.ts',
  'electron/service/session/sessions.ts',
  'electron/parsing/pkcs12.ts',
  'electron/parsing/parser.ts',
  'electron/batch/output/export.ts',
  'electron/batch/output/leak-check.ts',
  'electron/batch/output/digit-runs.ts',
  'electron/batch/running/brake.ts',
  'electron/support/wipe.ts',
];

export function defenceFiles(root: string): string[] {
  return defences.flatMap((place) => {
    const full = path.join(root, place);
    if (!fs.statSync(full).isDirectory()) return [place];
    return fs
      .readdirSync(full, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .sort()
      .map((name) => path.join(place, name));
  });
}

const swapped = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
]);

/** Every break that could be made of a file. */
export function breaksOf(root: string, file: string): Break[] {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Break[] = [];
  const add = (node: ts.Node, what: string, to: string): void => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, line, what, start, end: node.getEnd(), to });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIfStatement(node)) {
      const body = ts.isBlock(node.thenStatement) ? node.thenStatement.statements : [node.thenStatement];
      const last = body.at(-1);
      const isGuard = last !== undefined && (ts.isReturnStatement(last) || ts.isThrowStatement(last));
      if (isGuard && node.elseStatement === undefined) add(node.expression, 'a guard dropped', 'false');
      add(node.expression, 'a condition negated', `!(${node.expression.getText(source)})`);
    } else if (ts.isThrowStatement(node)) add(node, 'a throw dropped', ';');
    else if (ts.isBinaryExpression(node)) {
      const to = swapped.get(node.operatorToken.kind);
      if (to !== undefined)
        add(node.operatorToken, `${node.operatorToken.getText(source)} becomes ${to}`, to);
    } else if (
      ts.isExpressionStatement(node) &&
      (ts.isCallExpression(node.expression) || ts.isAwaitExpression(node.expression)) &&
      !/^(await )?(expect|log|super)\b/.test(node.getText(source))
    )
      add(node, 'a step dropped', ';');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The same numbers for the same seed (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` breaks, each in a file chosen at random, so that a long file does not have them all. */
export function chooseBreaks(root: string, seed: number, count: number): Break[] {
  const random = numbersOf(seed);
  const files = defenceFiles(root)
    .map((file) => breaksOf(root, file))
    .filter((breaks) => breaks.length > 0);
  const chosen = new Map<string, Break>();
  while (chosen.size < Math.min(count, files.flat().length)) {
    const breaks = files[Math.floor(random() * files.length)] ?? [];
    const one = breaks[Math.floor(random() * breaks.length)];
    if (one !== undefined) chosen.set(`${one.file}:${one.start}:${one.to}`, one);
  }
  return [...chosen.values()];
}

/** A break by its text, so that it is found again after the file has changed elsewhere. */
interface KnownBreak {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly what: string;
}

/** Breaks that once stayed green: each has had a test since. */
export const knownBreaks: readonly KnownBreak[] = [
  {
    file: 'electron/privacy/cleartext-act.ts',
    from: '      if (!allowed.ok) return allowed;\n',
    to: '',
    what: 'reveals are not throttled',
  },
  {
    file: 'electron/service/profile.ts',
    from: '{ ...fit.value.pins, ...base.value.pins }',
    to: '{ ...base.value.pins, ...fit.value.pins }',
    what: 'a profile of a connection loosens pins',
  },
  {
    file: 'electron/service/profile.ts',
    from: "    if (profile.wrappers.some(namesCleartext)) refuse('wrappers');\n",
    to: '',
    what: 'a wrapper may be called cleartext',
  },
  {
    file: 'electron/parsing/pkcs12.ts',
    from: 'const maxKeyBits = 8192;',
    to: 'const maxKeyBits = 1e9;',
    what: 'a key of a client certificate of any length',
  },
  {
    file: 'electron/parsing/parser.ts',
    from: 'env: {},',
    to: 'env: process.env,',
    what: 'the parser’s thread has the environment',
  },
  {
    file: 'electron/storage/byte-source.ts',
    from: 'constants.O_NONBLOCK',
    to: '0',
    what: 'a named pipe in place of a file holds the start',
  },
  {
    file: 'electron/storage/keychain-accounts.ts',
    from: "  'audit:anchor',\n",
    to: '',
    what: 'wiping leaves the earlier anchor',
  },
  {
    file: 'electron/storage/keychain-accounts.ts',
    from: '...index, ...connections.flatMap(accountsOf), ...fixedAccounts',
    to: '...index, ...fixedAccounts',
    what: 'wiping leaves secrets that the index lost',
  },
  {
    file: 'electron/app/lifecycle.ts',
    from: 'if (lock.state().locked) void clients.dropSessions();',
    to: '',
    what: 'sessions outlive the lock',
  },
  {
    file: 'electron/app/lifecycle.ts',
    from: '      administration.forget();\n',
    to: '',
    what: 'what was made in administration outlives the lock',
  },
  {
    file: 'electron/batch/output/digit-runs.ts',
    from: 'while (at < to) {\n      const unit',
    to: 'while (at <= to) {\n      const unit',
    what: 'digits of the next field are read with this one’s',
  },
  {
    file: 'electron/audit/day-counts.ts',
    from: '(at < end || latest >= begin)',
    to: '(at <= end || latest >= begin)',
    what: 'a day has the first instant of the next one',
  },
  {
    file: 'electron/settings/registry.ts',
    from: "if (head !== 'Windows Registry Editor Version 5.00' || ",
    to: "if (head !== 'Windows Registry Editor Version 5.00' && ",
    what: 'another exported key is taken for the policy',
  },
  {
    file: 'electron/audit/log-writer.ts',
    from: '    await rollBack().catch(() => undefined);\n    const { newest',
    to: '    const { newest',
    what: 'a line of an act that was refused is listed',
  },
  {
    file: 'electron/privacy/disclosures.ts',
    from: 'is[kind] > was[kind] && limits',
    to: 'is[kind] >= was[kind] && limits',
    what: 'a limit stops acts of other kinds',
  },
  {
    file: 'electron/evidence/case-chain.ts',
    from: "if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];",
    to: 'return [];',
    what: 'a log that can’t be read is an empty one',
  },
  {
    file: 'electron/connections/calls.ts',
    from: 'length > maxNamed ?',
    to: 'length >= maxNamed ?',
    what: 'a line says that there are 0 more authorities',
  },
  {
    file: 'electron/masking/cards.ts',
    from: '  if ((!begins || !ends) && end - from < 15) return false;\n',
    to: '',
    what: 'a short part of a long number is counted as a card',
  },
  {
    file: 'electron/batch/output/leak-check.ts',
    from: 'if (units !== known || position < from) places.fill(-1);',
    to: 'if (position < from) places.fill(-1);',
    what: 'what spells a card is looked for in the first piece alone',
  },
  {
    file: 'electron/batch/output/leak-check.ts',
    from: '(group === count - 1 && size < first)',
    to: 'false',
    what: 'a card in even groups with a shorter last one is not counted',
  },
  {
    file: 'electron/connections/client-certificates.ts',
    from: '        await fs.mkdir(folder, { recursive: true, mode: 0o700 });\n',
    to: '',
    what: 'the first client certificate has no folder',
  },
  {
    file: 'electron/privacy/unlock-attempts.ts',
    from: 'one.verifierLost === true || other',
    to: 'one.verifierLost === true && other',
    what: 'a verifier that was lost is forgotten with one of two places',
  },
  {
    file: 'electron/batch/output/export.ts',
    from: "if (choice.format === 'workbook' && maxRows(choice, tally) >= sheetRows)",
    to: 'if (false)',
    what: 'more rows than a sheet has are asked a file for',
  },
  {
    file: 'electron/service/addresses.ts',
    from: '    if (own === undefined) return false;\n',
    to: '',
    what: 'a path is taken for one that goes on behind it',
  },
  {
    file: 'electron/evidence/evidence-page.ts',
    from: 'entry.connection === null ? null',
    to: 'entry.connection !== null ? null',
    what: 'the page of evidence leaves out the connection',
  },
  {
    file: 'electron/evidence/evidence-page.ts',
    from: "facts.log.state === 'intact'\n",
    to: "facts.log.state !== 'intact'\n",
    what: 'the page of evidence calls a broken log intact',
  },
  {
    file: 'electron/privacy/leak-check.ts',
    from: 'unit >= 0x30 && unit <= 0x39) digits++',
    to: 'unit >= 0x30 && unit < 0x39) digits++',
    what: 'a nine is no digit to the last check',
  },
  {
    file: 'electron/privacy/guesses.ts',
    from: 'add(value) + before > freeOfMask',
    to: 'add(value) + before >= freeOfMask',
    what: 'one value fewer is free',
  },
  {
    file: 'electron/batch/output/leak-check.ts',
    from: '    findNumbers(units, 0, units.length);\n    sent.find',
    to: '    sent.find',
    what: 'a number that was sent is not counted in a rewritten field',
  },
  {
    file: 'electron/storage/durable.ts',
    from: "if (errorCode(error) === 'EEXIST') throw error;",
    to: 'throw error;',
    what: 'a disk without second names takes no file',
  },
  {
    file: 'electron/storage/keychain.ts',
    from: 'if (account !== probe) updateIndex',
    to: 'updateIndex',
    what: 'what tries the keyring is taken for a secret',
  },
];

export function known(root: string): Break[] {
  return knownBreaks.map(({ file, from, to, what }) => {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    const start = text.indexOf(from);
    if (start === -1 || text.includes(from, start + 1)) throw new Error(`${file}: not there once: ${from}`);
    return { file, what, to, start, end: start + from.length, line: text.slice(0, start).split('\n').length };
  });
}
