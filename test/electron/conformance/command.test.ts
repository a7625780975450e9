import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { checkConformance } from '../../../electron/conformance/command.ts';
import { conformanceArguments, refusedSwitch } from '../../../electron/platform/command-line.ts';
import { startBuiltInTarget } from '../../support/built-in-target.ts';
import { tempFolder } from '../../support/temp-folder.ts';

let service: Awaited<ReturnType<typeof startBuiltInTarget>>;
beforeAll(async () => {
  service = await startBuiltInTarget(new Uint8Array(32).fill(8), defaultSeed as Seed);
});
afterAll(() => service.stop());

const check = (args: readonly string[], input: string, isAllowedHost = () => true) =>
  checkConformance({ args, readInput: () => Promise.resolve(input), isAllowedHost });

describe('tokendesk --conformance', () => {
  it('checks a service, and prints and writes what it found, without a secret', async () => {
    const folder = tempFolder();
    const [ca, junit, json, profile] = ['ca.pem', 'junit.xml', 'results.json', 'profile.json'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string, string];
    const { baseUrl, account } = service.options;
    fs.writeFileSync(ca, service.options.ca ?? '');
    fs.writeFileSync(profile, '{"version":1}');
    const given = [`--base-url=${baseUrl}`, `--ca=${ca}`, `--junit=${junit}`, `--json=${json}`];
    const { text, code } = await check([profile, ...given], JSON.stringify(account));
    expect(text).toMatch(/\n\d+ pass, 0 fail/);
    expect(code).toBe(0);
    const written = fs.readFileSync(junit, 'utf8') + fs.readFileSync(json, 'utf8') + text;
    expect(written).toContain('<testsuite name="conformance" tests=');
    const { apiKeys, policies, portalUsers } = account as Record<
      'apiKeys' | 'policies' | 'portalUsers',
      { value?: string; password?: string }[]
    >;
    for (const { value, password } of [...apiKeys, ...policies, ...portalUsers])
      for (const secret of [value, password]) if (secret !== undefined) expect(written).not.toContain(secret);
  }, 60_000);

  it('ends with 1 where a statement fails', async () => {
    const { baseUrl, ca = '', account } = service.options;
    const file = path.join(tempFolder(), 'ca.pem');
    fs.writeFileSync(file, ca);
    // A service that does not know the key that it should take.
    const other = { ...(account as object), apiKeys: [{ value: 'no such key' }] };
    const { text, code } = await check([`--base-url=${baseUrl}`, `--ca=${file}`], JSON.stringify(other));
    expect(code).toBe(1);
    expect(text).not.toContain('no such key');
  }, 60_000);

  it.each([
    [[], '{}', 'Usage: tokendesk --conformance'],
    [['--base-url=http://service.example'], '{}', 'Usage'],
    [['--base-url=https://service.example', '--password=x'], '{}', "Unknown option '--password'"],
    [['--base-url=https://service.example', '--ca=/none/ca.pem'], '{}', 'ca.pem can’t be read'],
    [['--base-url=https://service.example'], 'hunter2', 'no account in JSON'],
    [['--base-url=https://service.example'], '{"apiKeys":[{"value":5}]}', 'no usable account'],
    [['--base-url=https://service.example', '--session-seconds=x'], '{}', 'must be a number'],
    [['--base-url=https://service.example', '--session-seconds=Infinity'], '{}', 'must be a number'],
    [['--base-url=https://adm:hunter2@service.example'], '{}', 'no user name and no password'],
    [['--base-url=https://service.example', '--ca=package.json'], '{}', 'package.json holds no certificate'],
  ])('%j ends with 2 and says why', async (args, input, said) => {
    const { text, code } = await check(args, input);
    expect(text).toContain('COULD NOT BE CHECKED');
    expect(text).toContain(said);
    expect(text).not.toContain('hunter2');
    expect(code).toBe(2);
  });

  it('ends with 2 where nobody answers, where the certificate is not trusted, and with an account of nothing', async () => {
    const { baseUrl, ca = '', account } = service.options;
    const file = path.join(tempFolder(), 'ca.pem');
    const json = path.join(tempFolder(), 'results.json');
    fs.writeFileSync(file, ca);
    const ends = async (url: string, given: object, ...more: string[]) => {
      const { text, code } = await check(
        [`--base-url=${url}`, `--json=${json}`, ...more],
        JSON.stringify(given),
      );
      expect(fs.existsSync(json)).toBe(false);
      return `${code} ${text}`;
    };
    const own = account as object;
    expect(await ends('https://127.0.0.1:1', own, `--ca=${file}`)).toMatch(
      /^2 COULD NOT BE CHECKED: No request was answered \(unreachable 127\.0\.0\.1:1\)/,
    );
    expect(await ends(baseUrl, own)).toMatch(/^2 COULD NOT BE CHECKED: No request was answered \(tls /);
    const nothing = { account: { accountId: '', tenantId: '' }, apiKeys: [], definitions: [], policies: [] };
    expect(await ends(baseUrl, nothing, `--ca=${file}`)).toMatch(
      /^2 COULD NOT BE CHECKED: Nothing that needs a session/,
    );
  }, 60_000);

  it('obeys the administrator, and asks nothing of a host that is not allowed', async () => {
    const { text, code } = await check(['--base-url=https://service.example'], '{}', () => false);
    expect(text).toContain('administrator');
    expect(code).toBe(2);
  });

  it('takes its own options, and no other start does', () => {
    const argv = ['tokendesk', '--user-data-dir=/x', '--conformance=p.json', '--base-url=https://s.example'];
    expect(conformanceArguments(argv, 'linux')).toEqual(['p.json', '--base-url=https://s.example']);
    const packaged = { isPackaged: true };
    expect(refusedSwitch(packaged, argv, 'linux')).toBeNull();
    expect(refusedSwitch(packaged, ['tokendesk', '--base-url=https://s.example'], 'linux')).toBe('base-url');
  });
});
