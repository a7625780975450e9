import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seedSchema, type Seed } from '../../../electron/built-in-service/seed.ts';
import { connect } from '../../support/service-client.ts';

const script = (name: string) => join(import.meta.dirname, '../../../scripts', name);
const running: ChildProcess[] = [];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'service-command-'));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const run = (name: string, ...args: string[]) => {
  const child = spawn(process.execPath, [script(name), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, exit };
};
const untilStarted = async ({ child }: ReturnType<typeof run>): Promise<string> => {
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes('Ctrl+C')) return printed;
  }
  throw new Error(`ended after: ${printed}`);
};
const after = (printed: string, label: string): string =>
  new RegExp(`^${label} +(\\S+)`, 'm').exec(printed)?.[1] ?? '';

describe('npm run built-in-service', () => {
  it('prints what a client needs, serves, keeps its data private, and stops when asked', async () => {
    const seedFile = join(folder, 'seed.json');
    const data = join(folder, 'data');
    const started = run(
      'built-in-service.ts',
      '--data',
      data,
      '--write-seed',
      seedFile,
      '--session-seconds',
      '30',
    );
    const printed = await untilStarted(started);
    const seed = seedSchema.parse(JSON.parse(readFileSync(seedFile, 'utf8')) as Seed);
    const caFile = after(printed, 'CA file');
    const client = connect({
      baseUrl: after(printed, 'Base URL'),
      caPem: readFileSync(caFile, 'utf8'),
      apiKey: { value: after(printed, 'API key'), expires: '' },
      policies: seed.policies.map(({ name, password = '' }) => ({ name, password, grants: [] })),
    });
    expect(await client.signIn('analyst')).toBeTruthy();
    await client.close();
    expect(printed).toMatch(/^curl --cacert .* -d .*"policy":"dispute-desk"/ms);
    for (const file of [caFile, seedFile, join(data, 'secret'), join(data, 'requests.sqlite')]) {
      expect(statSync(file).mode & 0o777, file).toBe(0o600);
    }

    started.child.kill('SIGINT');
    expect(await started.exit).toBe(0);
    const again = run('built-in-service.ts', '--data', data);
    expect(after(await untilStarted(again), 'API key')).toBe(after(printed, 'API key'));
  });

  it('leaves nothing behind without a data folder', async () => {
    const started = run('built-in-service.ts');
    const caFile = after(await untilStarted(started), 'CA file');
    expect(existsSync(caFile)).toBe(true);
    started.child.kill('SIGTERM');
    expect(await started.exit).toBe(0);
    expect(existsSync(caFile)).toBe(false);
  });

  it.each([
    [['--port', '70000'], /--port must be a whole number from 0 to 65535/],
    [['--nonsense'], /--nonsense/],
    [['--seed', 'missing.json'], /missing\.json/],
    [['--seed', script('../package.json')], /The seed file is wrong[^]*account/],
  ])('says in a sentence what is wrong with %j', async (args, sentence) => {
    const { child, exit } = run('built-in-service.ts', ...args);
    const printed = await readAll(child.stderr);
    expect(await exit).toBe(1);
    expect(printed).toMatch(sentence);
    expect(printed).not.toMatch(/^\s+at /m);
  });
});
