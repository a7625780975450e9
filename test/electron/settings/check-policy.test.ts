import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { managedSettings } from '../../../electron/contract/models/app.ts';
import { checkPolicy } from '../../../electron/settings/check-policy.ts';
import { systemOptions } from '../../../electron/settings/read-managed-settings.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-policy-'));
afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

async function check(text: string) {
  const file = path.join(folder, 'policy.json');
  fs.writeFileSync(file, text);
  return checkPolicy(file, systemOptions('linux'));
}

test('each setting is printed with its value, and those that are not set too', async () => {
  const { text, code } = await check(
    '{"$schema":"policy.schema.json","revealSeconds":10,"allowedHosts":["a.example"]}',
  );
  expect(code).toBe(0);
  expect(text).toMatch(/revealSeconds +10\n/);
  expect(text).toMatch(/allowedHosts +\["a.example"\]\n/);
  expect(text).toMatch(/caseRequired +not set\n/);
  for (const name of Object.keys(managedSettings.shape)) expect(text).toContain(name);
});

test('all that is wrong is said at once, in words, without the values', async () => {
  const { text, code } = await check(
    '{"revealSecond":1,"lockAfterMinutes":60,"allowedHosts":["a.example","https://canary.example"],"reasons":"canary"}',
  );
  expect(code).toBe(2);
  expect(
    text
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
      .sort(),
  ).toEqual([
    '',
    'allowedHosts, entry 2 must be a host in small letters without scheme, port and path, such as tokens.example.com or *.example.com',
    'lockAfterMinutes must be a whole number from 1 to 15',
    'reasons must be a list of 1 to 30 texts',
    'there is no setting revealSecond',
  ]);
  expect(text).not.toContain('canary');
});

test.each([
  ['{', 'it is not JSON'],
  ['[]', 'it is not an object'],
  ['null', 'it is not an object'],
])('%s is said to be no policy', async (text, flaw) => {
  expect(await check(text)).toMatchObject({ code: 2, text: expect.stringContaining(flaw) as unknown });
});

test('a file that is not there is said', async () => {
  const { text, code } = await checkPolicy(path.join(folder, 'none.json'), systemOptions('linux'));
  expect([code, text.includes('there is no such file')]).toEqual([2, true]);
});

test('without a file it is what is in force on this machine', async () => {
  fs.rmSync(path.join(folder, 'policy.json'), { force: true });
  const { text, code } = await checkPolicy(null, { ...systemOptions('linux'), folder });
  expect(code).toBe(0);
  expect(text).toContain('No settings of an administrator: nothing is wrong.');
});
