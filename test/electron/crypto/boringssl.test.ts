import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ciphers,
  curves,
  digests,
  hasCipher,
  hasCurve,
  hasDigest,
  openSsl,
} from '../../../dev/electron-on-chromium/boringssl.ts';
import {
  compute,
  makeProductCrypto,
  openMade,
  tryAlgorithm,
  type NamedAlgorithm,
  type ProductCryptoAnswer,
  type ProductCryptoRequest,
} from './product-crypto.ts';

const root = path.join(import.meta.dirname, '../../..');

/** Every string in the modules of the product that use `node:crypto`, where OpenSSL takes it for an algorithm. */
const named: readonly NamedAlgorithm[] = findNames(path.join(root, 'electron'));

describe('the algorithms that the product names', () => {
  it('are found in its sources', () => {
    expect(named).toContainEqual({ kind: 'digest', name: 'sha256' });
    // By a table of PKCS #12, and as a template with the length of the key.
    expect(named).toContainEqual({ kind: 'cipher', name: 'des-ede3-cbc' });
    expect(named).toContainEqual({ kind: 'cipher', name: 'aes-192-ecb' });
  });

  it('are all on the list of what BoringSSL has in Electron', () => {
    const has = { cipher: hasCipher, digest: hasDigest, curve: hasCurve };
    expect(named.filter(({ kind, name }) => !has[kind](name))).toEqual([]);
  });
});

/** A runtime from npm whose `node:crypto` is built on BoringSSL, as Electron's is. There is one for Linux on x64. */
const bun = path.join(root, 'node_modules/@oven/bun-linux-x64-baseline/bin/bun');
const missing = fs.existsSync(bun) ? '' : ' (skipped: @oven/bun-linux-x64-baseline is not installed)';

describe.skipIf(missing !== '')(`on BoringSSL itself${missing}`, () => {
  const absent: readonly NamedAlgorithm[] = [
    ...[
      'chacha20-poly1305',
      'chacha20',
      'aes-256-ccm',
      'aes-256-ocb',
      'aria-256-cbc',
      'camellia-256-cbc',
    ].map((name) => ({ kind: 'cipher', name }) as const),
    { kind: 'digest', name: 'sm3' },
    { kind: 'curve', name: 'secp256k1' },
    { kind: 'curve', name: 'brainpoolP256r1' },
  ];
  let folder: string;
  let answer: ProductCryptoAnswer;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tokendesk-boringssl-'));
    const [ours, theirs] = ['ours', 'theirs'].map((name) => path.join(folder, name)) as [string, string];
    await Promise.all([mkdir(ours), mkdir(theirs)]);
    // Cheap for the other side, which derives the key in JavaScript; the other way round the cost is the product's.
    const made = await makeProductCrypto(ours, { age: 10, lock: 10 });
    const request: ProductCryptoRequest = { folder: theirs, made, names: [...named, ...absent] };
    const script = path.join(import.meta.dirname, 'product-crypto.ts');
    const { stdout } = await promisify(execFile)(bun, ['--no-install', script, JSON.stringify(request)], {
      // It may neither send anything nor write outside of its folder.
      env: {
        HOME: folder,
        TMPDIR: folder,
        BUN_ENABLE_CRASH_REPORTING: '0',
        BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0',
        DO_NOT_TRACK: '1',
      },
      maxBuffer: 16 * 1024 * 1024,
      timeout: 60_000,
    });
    answer = JSON.parse(stdout) as ProductCryptoAnswer;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('runs on BoringSSL, which has the ciphers and curves of the list, and its digests', () => {
    expect(answer.runtime.boringssl).toMatch(/^[0-9a-f]{40}$/);
    expect(answer.lists.ciphers.toSorted()).toEqual(ciphers.toSorted());
    expect(answer.lists.curves.toSorted()).toEqual(curves.toSorted());
    expect(answer.lists.digests).toEqual(expect.arrayContaining([...digests]));
  });

  it('computes the same as here', async () => {
    const computed = JSON.parse(JSON.stringify(await compute())) as typeof answer.computed;
    expect(answer.computed).toEqual(computed);
    expect(computed.ff1).toBe('6124200773');
    expect(computed.lock).toEqual(['none', null]);
    expect(computed.tokens.every(({ ok }) => ok)).toBe(true);
    const read = computed.pkcs12.map(({ name, right, wrong }) => [name, right.ok, wrong.ok]);
    expect(read).toEqual([
      ['aes-128-open-certificates.p12', true, false],
      ['aes-256.p12', true, false],
      ['camellia.p12', false, false],
      ['firefox-rounds.p12', true, false],
      ['long-key.p12', false, false],
      ['no-passphrase.p12', true, false],
      ['rc2.p12', false, false],
      ['triple-des.p12', true, false],
    ]);
  });

  const allTrue = (opened: object): string[] =>
    Object.entries(opened).flatMap(([name, isTrue]) => (isTrue === true ? [] : [name]));

  it('opens what was made here', () => {
    expect(Object.keys(answer.opened)).toHaveLength(11);
    expect(allTrue(answer.opened)).toEqual([]);
  });

  it('makes what opens here', async () => {
    expect(allTrue(await openMade(answer.made))).toEqual([]);
  });

  it('has each algorithm that the product names, with the same results', () => {
    const results = named.map((one, at) => [one.name, answer.named[at]]);
    expect(results).toEqual(named.map((one) => [one.name, tryAlgorithm(one, openSsl)]));
    expect(results.filter(([, result]) => result?.startsWith('ERR_'))).toEqual([]);
  });

  it('lacks what the list lacks, with the same error', () => {
    expect(absent.map((one, at) => [one.name, answer.named[named.length + at]])).toEqual(
      absent.map((one) => [one.name, tryAlgorithm(one)]),
    );
    expect(tryAlgorithm({ kind: 'cipher', name: 'chacha20-poly1305' })).toBe('ERR_CRYPTO_UNKNOWN_CIPHER');
  });
});

function findNames(folder: string): NamedAlgorithm[] {
  const known = [
    ...openSsl.getCiphers().map((name) => ({ kind: 'cipher', name }) as const),
    ...openSsl.getHashes().map((name) => ({ kind: 'digest', name }) as const),
    ...openSsl.getCurves().map((name) => ({ kind: 'curve', name }) as const),
  ];
  const found = new Map<string, NamedAlgorithm>();
  for (const file of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = ts.createSourceFile(
      file,
      fs.readFileSync(path.join(folder, file), 'utf8'),
      ts.ScriptTarget.Latest,
    );
    if (!source.text.includes("'node:crypto'")) continue;
    const visit = (node: ts.Node): void => {
      const named = isText(node) ? known.filter(({ name }) => spells(node, name)) : [];
      for (const one of named) {
        // BoringSSL compares names of digests byte for byte.
        const name = ts.isStringLiteralLike(node) ? node.text : one.name;
        found.set(`${one.kind} ${name}`, { kind: one.kind, name });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return [...found.values()];
}

type Text = ts.StringLiteralLike | ts.TemplateExpression;
function isText(node: ts.Node): node is Text {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** Whether a string is this name, in any case; in a template anything may stand between its first and last piece. */
function spells(node: Text, name: string): boolean {
  if (ts.isStringLiteralLike(node))
    return node.text.length === name.length && node.text.toLowerCase() === name.toLowerCase();
  const [first, last] = [node.head.text, node.templateSpans.at(-1)?.literal.text ?? ''];
  return first.length + last.length > 2 && name.startsWith(first) && name.endsWith(last);
}
