import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { failed } from '../../../electron/contract/errors.ts';
import { createLog, type LogOptions } from '../../../electron/log/log.ts';

const secret = 'pa55word-4111111111111111';

function tempFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-log-'));
  onTestFinished(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

interface Line {
  readonly time: string;
  readonly level: string;
  readonly lost?: number;
  readonly place: string;
  readonly error: { class: string; code?: string; failure?: string; stack: string[]; causes?: string[] };
  readonly event: string;
  readonly facts?: Record<string, unknown>;
}

function openLog(over: Partial<LogOptions> = {}) {
  const folder = over.folder ?? path.join(tempFolder(), 'logs');
  const log = createLog({
    folder,
    codeFolder: import.meta.dirname,
    version: '1.2.3',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    ...over,
  });
  const file = path.join(folder, 'tokendesk.log');
  const text = (): string => fs.readFileSync(file, 'utf8');
  const lines = (): Line[] =>
    text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  const described = (error: unknown): Line['error'] => {
    log.bug('test', error);
    const line = lines().at(-1);
    if (line === undefined) throw new Error('No line');
    return line.error;
  };
  return { log, folder, file, text, lines, described };
}

function failInside(error = new RangeError(secret)): Error {
  return error;
}

describe('a line', () => {
  test('says when, what version, where, the class and our own frames', () => {
    const { log, lines } = openLog();
    log.bug('ipc connections.save', failInside());
    const [line] = lines();
    expect(line).toMatchObject({
      time: '2026-01-02T03:04:05.678Z',
      level: 'error',
      version: '1.2.3',
      place: 'ipc connections.save',
      error: { class: 'RangeError' },
    });
    expect(line?.error.stack[0]).toMatch(/^failInside \(log\.test\.ts:\d+:\d+\)$/);
    // The test runner's own frames are there too, and left out.
    for (const frame of line?.error.stack ?? []) expect(frame).toMatch(/log\.test\.ts:\d+:\d+\)?$/);
  });

  test('says the system’s code, the coded failure and the classes of causes', () => {
    const { described } = openLog();
    const noFile = Object.assign(new Error(secret), { code: 'ENOENT', path: `/home/${secret}` });
    expect(described(noFile)).toMatchObject({ class: 'Error', code: 'ENOENT' });
    expect(described(Object.assign(new TypeError(secret), { code: 'ERR_INVALID_URL' })).code).toBe(
      'ERR_INVALID_URL',
    );
    expect(described(Object.assign(new Error(secret), { code: 'ABCD1234' }))).not.toHaveProperty('code');
    expect(described(failed('job.sum', { subject: secret })).failure).toBe('job.sum');
    expect(described(failed('job.sum').failure).failure).toBe('job.sum');
    const caused = new Error(secret, { cause: new TypeError(secret, { cause: secret }) });
    expect(described(caused).causes).toEqual(['TypeError', 'not an Error: string']);
  });

  test('of an event has numbers and yes or no, and no number as long as a card’s', () => {
    const { log, lines } = openLog();
    log.info('app started', { milliseconds: 812, packaged: true });
    log.info('app closed');
    log.info(secret, { [secret]: 1, card: 4111111111111111, n: NaN, text: secret as unknown as number });
    expect(lines()).toMatchObject([
      { level: 'info', event: 'app started', facts: { milliseconds: 812, packaged: true } },
      { event: 'app closed' },
      { event: 'unnamed', facts: { unnamed: 1 } },
    ]);
    expect(Object.keys(lines()[2]?.facts ?? {})).toEqual(['unnamed']);
  });
});

describe('what an error holds', () => {
  const own = import.meta.filename;
  const fake = `\n    at ${secret} (${own}:1:1)\n    at stolen (file://${own}:2:2)`;
  const named = new Error('x');
  named.name = secret;
  const changed = new Error(`first\n    at ${secret} (/home/${secret}.ts:1:1)`);
  changed.message = 'other';
  const key = 'k4111111111111111';
  const computed = { [key]: () => new Error('x') };
  const circular = new Error(secret);
  circular.cause = circular;
  const hostile = new Proxy(new Error(secret), {
    get: () => {
      throw new Error(secret);
    },
    getPrototypeOf: () => {
      throw new Error(secret);
    },
  });
  const throwing = new Error(secret);
  for (const name of ['message', 'name', 'stack', 'cause', 'code', 'failure', 'constructor'])
    Object.defineProperty(throwing, name, {
      get: () => {
        throw new Error(secret);
      },
    });

  test.each<[string, unknown]>([
    ['its message', new Error(secret)],
    ['its cause', new Error('x', { cause: new Error(secret) })],
    ['its name', named],
    ['its own members', Object.assign(new Error('x'), { code: secret, path: secret, value: secret })],
    ['errors it aggregates', new AggregateError([new Error(secret)], secret)],
    ['a message that looks like a stack', new Error(`x${fake}`)],
    [
      'a message that ends like a stack of other files',
      new Error(`x\n    at ${secret} (/home/${secret}.ts:1:1)`),
    ],
    ['a message that was changed later', changed],
    [
      'a stack that was set',
      Object.assign(new Error('x'), { stack: `Error: ${secret}\n    at ${secret} (${own}:1:1)` }),
    ],
    ['the name of a function', computed[key]()],
    ['a circular cause', circular],
    ['a proxy that throws', hostile],
    ['getters that throw', throwing],
    ['an error of another realm', runInNewContext(`new Error('${secret}')`)],
    ['a string', secret],
    ['a number', 4111111111111111],
    ['an object', { message: secret, stack: `Error: ${secret}`, code: secret }],
    ['an object that throws', { toString: () => secret, toJSON: () => secret }],
    ['a symbol', Symbol(secret)],
    ['a function', function pa55word() {}],
    ['nothing', undefined],
    ['null', null],
  ])('is not in the log: %s', (_, error) => {
    const { log, text, lines } = openLog();
    log.bug('test', error);
    expect(lines()).toHaveLength(1);
    expect(text().length).toBeLessThan(1_500);
    expect(lines()[0]?.error.class).toMatch(/^(not an Error: )?\w+$/);
    for (const part of ['pa55word', '4111', 'stolen', '/home', os.tmpdir(), import.meta.dirname])
      expect(text()).not.toContain(part);
  });

  test('is not in the place either, which is a name', () => {
    const { log, text } = openLog();
    for (const place of [secret, `/home/${secret}`, 'C:\\x', 'a\nb', '']) log.bug(place, new Error('x'));
    expect(text().match(/"place":"unnamed"/g)).toHaveLength(5);
  });

  test('of any length makes a short line', () => {
    const { log, text, described } = openLog();
    const long = new Error('line\n'.repeat(2_000_000));
    expect(described(long).stack[0]).toContain('log.test.ts');
    const deep = (count: number): Error => (count === 0 ? new Error('x') : deep(count - 1));
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 5_000;
    const error = deep(4_000);
    Error.stackTraceLimit = limit;
    log.bug('test', error);
    for (const line of text().trimEnd().split('\n')) expect(line.length).toBeLessThan(1_000);
  });
});

describe('the files', () => {
  test('are for this user only, also where they were not', () => {
    const { log, folder, file } = openLog();
    log.info('one');
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    fs.chmodSync(file, 0o644);
    log.info('two');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  test('are three, none longer than allowed, with the newest lines in them', () => {
    const { log, folder } = openLog({ maxBytes: 1_000 });
    for (let count = 0; count < 100; count++) log.info('event', { count });
    const files = fs.readdirSync(folder).sort();
    expect(files).toEqual(['tokendesk.1.log', 'tokendesk.2.log', 'tokendesk.log']);
    for (const file of files) {
      const stat = fs.statSync(path.join(folder, file));
      expect(stat.size).toBeLessThanOrEqual(1_000);
      expect(stat.mode & 0o777).toBe(0o600);
    }
    const counts = log.tail(1_000).map((line) => (JSON.parse(line) as Line).facts?.['count']);
    expect(counts.length).toBeGreaterThan(15);
    expect(counts).toEqual(Array.from({ length: counts.length }, (_, index) => 100 - counts.length + index));
    expect(log.tail(3).map((line) => (JSON.parse(line) as Line).facts?.['count'])).toEqual([97, 98, 99]);
    expect(log.tail(0)).toEqual([]);
  });

  test('a line that was cut off does not spoil the next, and is no part of the tail', () => {
    const { log, file } = openLog();
    log.info('one');
    fs.appendFileSync(file, `{"time":"${secret}`);
    log.info('two');
    expect(log.tail(10).map((line) => (JSON.parse(line) as Line).event)).toEqual(['one', 'two']);
  });

  test('a log that can’t be written never throws, and says later how many lines were lost', () => {
    const parent = tempFolder();
    const folder = path.join(parent, 'logs');
    fs.writeFileSync(folder, 'a file where the folder should be');
    const { log, lines } = openLog({ folder });
    log.bug('test', new Error(secret));
    log.info('one');
    expect(log.tail(10)).toEqual([]);
    fs.rmSync(folder);
    log.info('two');
    log.info('three');
    expect(lines()).toMatchObject([{ event: 'two', lost: 2 }, { event: 'three' }]);
    expect(lines()[1]).not.toHaveProperty('lost');
  });

  test('a folder that was removed is made again', () => {
    const { log, folder, lines } = openLog();
    log.info('one');
    fs.rmSync(folder, { recursive: true });
    log.info('two');
    expect(lines()).toMatchObject([{ event: 'two' }]);
  });

  test.skipIf(process.platform === 'win32')('a link or a pipe at the log’s name is not written to', () => {
    const { log, folder, file } = openLog();
    fs.mkdirSync(folder);
    const victim = path.join(tempFolder(), 'victim');
    fs.writeFileSync(victim, 'mine');
    fs.symlinkSync(victim, file);
    log.info('one');
    expect(fs.readFileSync(victim, 'utf8')).toBe('mine');
    fs.rmSync(file);
    execFileSync('mkfifo', [file]);
    log.info('two');
    fs.rmSync(file);
    log.info('three');
    expect(JSON.parse(log.tail(1)[0] ?? '')).toMatchObject({ lost: 2 });
  });
});
