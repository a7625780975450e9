import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test, vi } from 'vitest';
import { buildMain, buildWindow } from '../support/build-for-test.ts';

/** Bytes of script and style that the window loads before it shows anything. */
const maxFirstBytes = 410_000;

let files: Awaited<ReturnType<typeof buildWindow>>;
let mains: Awaited<ReturnType<typeof buildMain>>;
beforeAll(async () => {
  // Else Vite builds what developers need besides.
  vi.stubEnv('NODE_ENV', 'production');
  files = await buildWindow();
  mains = await buildMain();
  vi.unstubAllEnvs();
}, 120_000);

const entries = () => files.filter((file) => file.type === 'chunk').filter(({ isEntry }) => isEntry);

test('the window loads one script and one style sheet before it shows anything', () => {
  expect(entries().map(({ imports }) => imports)).toEqual([[]]);
  expect(files.filter(({ fileName }) => fileName.endsWith('.css'))).toHaveLength(1);
});

test(`these are not larger than ${maxFirstBytes / 1_000} KB together`, () => {
  const sheets = files.filter(({ fileName }) => fileName.endsWith('.css'));
  const bytes = [
    ...entries().map(({ code }) => Buffer.byteLength(code)),
    ...sheets.map((sheet) => (sheet.type === 'asset' ? Buffer.byteLength(sheet.source) : 0)),
  ];
  expect(Math.min(...bytes)).toBeGreaterThan(0);
  expect(bytes.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(maxFirstBytes);
});

test('no page but Lookup is in them, and no list of a select', () => {
  const modules = entries().flatMap(({ moduleIds }) => moduleIds);
  expect(modules.filter((id) => /SelectList|bits-ui.*\/select\//.test(id))).toEqual([]);
  const features = new Set(modules.map((id) => /src\/features\/(\w+)\//.exec(id)?.[1] ?? 'none'));
  features.delete('none');
  // Lock and start stand in Lookup's place, and so does the passphrase that an administrator may ask for.
  expect([...features].sort()).toEqual(['lock', 'lookup', 'settings', 'start']);
  expect(modules.filter((id) => /SettingsPage/.test(id))).toEqual([]);
  expect(modules.some((id) => id.endsWith('LookupPage.svelte'))).toBe(true);
});

test('the main process holds no module of development, of tests or of scripts', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const ours = (names: readonly string[]): string[] =>
    names
      .filter((name) => name.startsWith(root) && !name.includes('/node_modules/'))
      .map((name) => name.slice(root.length));
  const modules = mains.flatMap(({ moduleIds, imports }) => [...moduleIds, ...imports]);
  expect(ours(modules).length).toBeGreaterThan(100);
  // Of the window a command has the sentences, and what writes their numbers.
  const allowed = /^(?:electron\/|resources\/|src\/messages\/|src\/lib\/(?:format|locale)\.ts$)/;
  expect(ours(modules).filter((name) => !allowed.test(name))).toEqual([]);
  // It may be loaded by its name alone, which no folder shows.
  expect(modules.filter((name) => name.includes('playwright'))).toEqual([]);
});

test('a start loads neither TLS nor what only the command line asks for, and no check by JSON schema', () => {
  const loaded = new Set<string>();
  const load = (name: string): void => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const chunk = mains.find(({ fileName }) => fileName === name);
    for (const one of [...(chunk?.moduleIds ?? []), ...(chunk?.imports ?? [])]) load(one);
  };
  load('main.js');
  const names = [...loaded];
  expect(names.length).toBeGreaterThan(100);
  const behind =
    /^node:(?:tls|https?|inspector|readline\/promises)$|node_modules\/(?:undici|ajv|semver)\/|electron\/(?:conformance|commands\/start|settings\/check-policy|support\/(?:self-check|wipe|compare-statements|workstation-facts))/;
  expect(names.filter((name) => behind.test(name))).toEqual([]);
});
