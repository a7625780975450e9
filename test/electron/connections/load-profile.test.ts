import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadProfile } from '../../../electron/connections/profiles.ts';

const resources = path.resolve('resources');
let site: string;

beforeEach(() => {
  site = fs.mkdtempSync(path.join(os.tmpdir(), 'site-'));
});
afterEach(() => {
  fs.rmSync(site, { recursive: true });
});

test('the shipped profile holds where the site has none', async () => {
  expect((await loadProfile({ site, resources })).ok).toBe(true);
});

test('a site’s own profile takes its place', async () => {
  const own = fs
    .readFileSync(path.join(resources, 'service-profile.json'), 'utf8')
    .replace('evtservice/detokenize', 'own/clear');
  fs.writeFileSync(path.join(site, 'service-profile.json'), own);
  const profile = await loadProfile({ site, resources });
  expect(profile.ok && profile.value.operations.Detokenize.path).toBe('/api/services/own/clear');
});

test('that of the administrator’s folder goes before both', async () => {
  fs.writeFileSync(path.join(site, 'service-profile.json'), '{"version": 1, "lists": ["beside"]}');
  const provided = '{"version": 1, "lists": ["provided"]}';
  const profile = await loadProfile({ site, resources, provided });
  expect(profile.ok && profile.value.lists).toEqual(['provided']);
});

test('a damaged one is refused, not passed over', async () => {
  fs.writeFileSync(path.join(site, 'service-profile.json'), '{');
  expect(await loadProfile({ site, resources })).toMatchObject({
    ok: false,
    failure: { code: 'connection.invalid' },
  });
});
