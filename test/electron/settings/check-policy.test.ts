import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { managedSettings } from '../../../electron/contract/models/app.ts';
import { checkPolicy } from '../../../electron/settings/check-policy.ts';
import { signConnections } from '../../../electron/settings/provided-file.ts';
import { systemOptions } from '../../../electron/settings/read-managed-settings.ts';
import { signingKey } from '../../../electron/storage/signed-document.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { sentenceFor } from '../../../src/messages/messages.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-policy-'));
afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

const me = process.getuid?.() ?? 0;
const checking = {
  managed: { ...systemOptions('linux'), folder, uid: me },
  clock: systemClock,
  words: sentenceFor,
};

async function check(text: string) {
  const file = path.join(folder, 'policy.json');
  fs.writeFileSync(file, text);
  return checkPolicy({ ...checking, file });
}

test('each setting is printed with its value, and those that are not set too', async () => {
  const { text, code } = await check(
    '{"$schema":"policy.schema.json","revealSeconds":10,"allowedHosts":["a.example"]}',
  );
  expect(code).toBe(0);
  expect(text).toMatch(/revealSeconds +10 {2}\(\S+policy\.json\)\n/);
  expect(text).toMatch(/allowedHosts +\["a.example"\] /);
  expect(text).toMatch(/caseRequired +not set\n/);
  for (const name of Object.keys(managedSettings.shape)) expect(text).toContain(name);
});

test('all that is wrong is said at once, in words, without the values', async () => {
  const { text, code } = await check(
    '{"revealSecond":1,"lockAfterMinutes":60,"allowedHosts":["a.example","https://canary.example"],"reasons":"canary","revealSeconds":5}',
  );
  expect(code).toBe(2);
  expect(
    text
      .slice(0, text.indexOf('\n\n'))
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
      .sort(),
  ).toEqual([
    'allowedHosts, entry 2 must be a host in small letters without scheme, port and path, such as tokens.example.com or *.example.com',
    'lockAfterMinutes must be a whole number from 1 to 15',
    'reasons must be a list of 1 to 30 texts',
    'there is no setting revealSecond',
  ]);
  // What is right is still shown.
  expect(text).toMatch(/revealSeconds +5 /);
  expect(text).toMatch(/lockAfterMinutes +wrong, see above\n/);
  expect(text).toMatch(/caseRequired +not set\n/);
  expect(text).not.toContain('canary');
});

describe('the connections that a policy provides', () => {
  const key = signingKey(new Uint8Array(32).fill(1));
  const connections = path.join(folder, 'share.json');
  const connection = {
    ...{
      name: 'Acme',
      environment: 'test',
      baseUrl: 'https://eu.acme.example',
      extraCa: null,
      proxyUser: '',
    },
    ...{ policies: [], definitions: [], accountId: '', tenantId: '', apiKeyExpires: null },
    ...{ requestsPerSecond: 60, transfersPerDay: 1000 },
  };
  const file = {
    format: 'tokendesk-connections',
    version: 1,
    mappings: [],
    connections: [connection, { ...connection, name: 'Beta', baseUrl: 'https://beta.example' }],
  };
  const policy = (allowed: string, connectionsSigners = [key.fingerprint]) =>
    JSON.stringify({ connectionsFile: connections, connectionsSigners, allowedHosts: [allowed] });
  const sign = (): void => {
    const made = signConnections(Buffer.from(JSON.stringify(file)), { key, now: new Date(0) });
    fs.writeFileSync(connections, JSON.stringify(made.ok ? made.value : made.failure));
  };

  test('are looked at where they lie, with their signer and a host that is not allowed', async () => {
    sign();
    const good = await check(policy('*.example'));
    expect([good.code, good.text]).toEqual([
      0,
      expect.stringContaining(
        `Connections of ${connections}, issued 1970-01-01T00:00:00.000Z, signed by ${key.fingerprint}: nothing is wrong.\n  Acme\n  Beta\n`,
      ),
    ]);
    const refused = await check(policy('eu.acme.example'));
    expect([refused.code, refused.text]).toEqual([
      2,
      expect.stringContaining('  Beta: its host beta.example is none of allowedHosts\n'),
    ]);
    const other = await check(policy('*.example', ['0'.repeat(64)]));
    expect([other.code, other.text]).toEqual([
      2,
      expect.stringContaining(`is signed by ${key.fingerprint}, who is not named`),
    ]);
    fs.rmSync(connections);
    const away = await check(policy('*.example'));
    expect([away.code, away.text]).toEqual([
      2,
      expect.stringContaining('can’t be read now (share.json: there is no such file)'),
    ]);
  });

  test('need a whole path, a signer, and no second file beside the policy', async () => {
    expect((await check('{"connectionsFile":"share.json","connectionsSigners":[]}')).text).toMatch(
      /connectionsSigners must be a list of 1 to 20 texts[^]*connectionsFile must be a whole path/,
    );
    expect((await check('{"connectionsFile":"/share.json"}')).text).toContain(
      'connectionsFile needs connectionsSigners',
    );
    expect((await check(`{"connectionsSigners":["${'A'.repeat(64)}"]}`)).text).toContain(
      'connectionsSigners, entry 1 must be a fingerprint of 64 hexadecimal digits in small letters',
    );
    expect((await check('{"connectionsFile":"/share.json","connectionsSigners":["x"]}')).text).not.toContain(
      'connectionsFile needs connectionsSigners',
    );
    fs.writeFileSync(path.join(folder, 'policy.json'), policy('*.example'));
    const beside = path.join(folder, 'connections.json');
    fs.writeFileSync(beside, JSON.stringify(file));
    const { text, code } = await checkPolicy({ ...checking, file: null });
    expect([code, text]).toEqual([
      2,
      expect.stringMatching(
        /connections\.json can’t be used:\n {2}it is there although connectionsFile names/,
      ),
    ]);
    fs.writeFileSync(path.join(folder, 'policy.json'), '{"allowedHosts":["eu.acme.example"]}');
    const wrongHost = (await checkPolicy({ ...checking, file: null })).text;
    expect(wrongHost).toContain(
      `: the connections that it provides can’t be used.\n  Beta: its host beta.example is none of allowedHosts\n\n`,
    );
    expect(wrongHost).toContain(`Connections of ${beside}: see above.\n  Acme\n`);
    expect(wrongHost).not.toContain('nothing is wrong');
    fs.rmSync(beside);
  });
});

test.each([
  ['{', 'it is not JSON'],
  ['[]', 'it is not an object'],
  ['null', 'it is not an object'],
])('%s is said to be no policy', async (text, flaw) => {
  expect(await check(text)).toMatchObject({ code: 2, text: expect.stringContaining(flaw) as unknown });
});

test('a file that is not there is said', async () => {
  const { text, code } = await checkPolicy({ ...checking, file: path.join(folder, 'none.json') });
  expect([code, text.includes('there is no such file')]).toEqual([2, true]);
});

test('without a file it is what is in force on this machine', async () => {
  fs.rmSync(path.join(folder, 'policy.json'), { force: true });
  const { text, code } = await checkPolicy({ ...checking, file: null });
  expect(code).toBe(0);
  expect(text).toContain('No settings of an administrator: nothing is wrong.');
});
