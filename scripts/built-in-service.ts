/*
 * Runs the built-in tokenization service on its own: npm run built-in-service -- [options]
 * Prints everything a client needs, credentials included, to the terminal it was started from.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import defaultSeed from '../resources/built-in-service-seed.json' with { type: 'json' };
import { seedSchema, type ParsedSeed, type Seed } from '../electron/built-in-service/seed.ts';
import {
  startBuiltInService,
  type RunningBuiltInService,
  type BuiltInServiceOptions,
} from '../electron/built-in-service/start.ts';

const usage = `npm run built-in-service -- [options]
  --port N                 the port on 127.0.0.1 (a free one if absent)
  --seed FILE              account, API keys, definitions, policies (resources/built-in-service-seed.json if absent)
  --data FOLDER            keeps secret, request log and CA file here; without it they end with the service
  --session-seconds N      lifetime of a session token (900)
  --portal-seconds N       lifetime of a portal token (3600)
  --requests-per-second N  (600)
  --transfers-per-day N    (10000000)
  --max-elements N         maximum number of elements in a batch (1000)
  --tool-server            enables the tool server at /mcp
  --webhook URL            tells this HTTPS address of events, signed with the secret in TOKENDESK_WEBHOOK_SECRET
  --webhook-ca FILE        the authority of that address's certificate, as PEM
  --write-seed FILE        writes the seed with all its credentials, for npm run conformance
  --help`;

function webhookTarget(url: string, ca: string | undefined): NonNullable<BuiltInServiceOptions['webhook']> {
  const secret = process.env['TOKENDESK_WEBHOOK_SECRET'] ?? '';
  if (!url.startsWith('https://')) throw new Error('--webhook takes an https address.');
  if (secret === '') throw new Error('--webhook needs a secret in TOKENDESK_WEBHOOK_SECRET.');
  return { url, secret, ...(ca !== undefined && { caPem: readFileSync(ca, 'utf8') }) };
}

interface RunOptions {
  readonly options: Omit<BuiltInServiceOptions, 'seed'> & { readonly seed: ParsedSeed };
  readonly folder: string;
  readonly keep: boolean;
  readonly seedOut: string | undefined;
}

/** Creates or replaces a file that its owner alone can read. */
function writePrivate(file: string, content: string | Uint8Array): void {
  rmSync(file, { force: true });
  const handle = openSync(file, 'wx', 0o600);
  writeSync(handle, typeof content === 'string' ? Buffer.from(content) : content);
  closeSync(handle);
}

function secretIn(folder: string): Uint8Array {
  const file = join(folder, 'secret');
  if (!existsSync(file)) writePrivate(file, randomBytes(32));
  return readFileSync(file);
}

function readIntegers<K extends string>(
  values: Readonly<Record<string, string | boolean | undefined>>,
  names: Readonly<Record<string, readonly [key: K, min: number, max: number]>>,
): Partial<Record<K, number>> {
  const numbers: Partial<Record<K, number>> = {};
  for (const [name, [key, min, max]] of Object.entries(names)) {
    const text = values[name];
    if (text === undefined) continue;
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      throw new Error(`--${name} must be a whole number from ${min} to ${max}.`);
    }
    numbers[key] = value;
  }
  return numbers;
}

/** Null with --help. */
function readOptions(): RunOptions | null {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      seed: { type: 'string' },
      data: { type: 'string' },
      'session-seconds': { type: 'string' },
      'portal-seconds': { type: 'string' },
      'requests-per-second': { type: 'string' },
      'transfers-per-day': { type: 'string' },
      'max-elements': { type: 'string' },
      'tool-server': { type: 'boolean' },
      webhook: { type: 'string' },
      'webhook-ca': { type: 'string' },
      'write-seed': { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return null;

  const seed: unknown =
    values.seed === undefined ? defaultSeed : JSON.parse(readFileSync(values.seed, 'utf8'));
  const options = {
    worker: new URL('../electron/built-in-service/worker.ts', import.meta.url),
    seed: seedSchema.parse(seed),
    ...readIntegers(values, {
      port: ['port', 0, 65_535],
      'session-seconds': ['sessionSeconds', 1, 31_536_000],
      'portal-seconds': ['portalSeconds', 1, 31_536_000],
      'max-elements': ['maxElements', 1, 100_000],
    }),
    limits: readIntegers(values, {
      'requests-per-second': ['requestsPerSecond', 1, 1_000_000],
      'transfers-per-day': ['transfersPerDay', 1, Number.MAX_SAFE_INTEGER],
    }),
    toolServer: values['tool-server'] ?? false,
    ...(values.webhook !== undefined && { webhook: webhookTarget(values.webhook, values['webhook-ca']) }),
  };
  const seedOut = values['write-seed'];
  if (values.data === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'tokendesk-service-'));
    return { options: { ...options, secret: randomBytes(32) }, folder, keep: false, seedOut };
  }
  const folder = resolve(values.data);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    options: { ...options, secret: secretIn(folder), dataFolder: folder },
    folder,
    keep: true,
    seedOut,
  };
}

/** A seed with the account as the running service has it, and every credential in it. */
function fullSeed(seed: ParsedSeed, service: RunningBuiltInService): Seed {
  const policies = service.policies.map(({ name, password, grants }) => ({
    name,
    password,
    grants: grants.map(({ definitions, operations }) => ({
      definitions: [...definitions],
      operations: [...operations] as ParsedSeed['policies'][number]['grants'][number]['operations'],
    })),
  }));
  return {
    account: seed.account,
    apiKeys: [...service.apiKeys],
    definitions: [...service.definitions],
    policies,
    portalUsers: [...service.portalUsers],
  };
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function describe(service: RunningBuiltInService, caFile: string): string {
  const { baseUrl, accountId, tenantId, apiKeys, policies, definitions, portalUsers } = service;
  const policy = policies.find(({ grants }) => grants.length > 0) ?? policies[0];
  const body = { apiKey: service.apiKey.value, policy: policy?.name, policyPassword: policy?.password };
  const url = `${baseUrl}/api/services/evtservice/createsession?pretty`;
  const grantsOf = ({ grants }: RunningBuiltInService['policies'][number]) =>
    grants.map((grant) => `${grant.operations.join(', ')} on ${grant.definitions.join(', ')}`).join('; ');
  return [
    `Base URL     ${baseUrl}`,
    `CA file      ${caFile}`,
    `Account      ${accountId}   tenant ${tenantId}`,
    ...apiKeys.map(({ title, value, expires }) => `API key      ${value}   ${title}, until ${expires}`),
    ...definitions.map(({ name, label }) => `Definition   ${name}   ${label}`),
    ...policies.map(
      (one) => `Policy       ${one.name}   password ${one.password}\n             ${grantsOf(one)}`,
    ),
    ...portalUsers.map((one) => `Portal user  ${one.name}   password ${one.password}   ${one.role}`),
    '',
    'A first session:',
    `curl --cacert ${quoteForShell(caFile)} ${quoteForShell(url)} \\`,
    `  -H 'Content-Type: application/json' -d ${quoteForShell(JSON.stringify(body))}`,
    '',
    'Ctrl+C stops it.',
  ].join('\n');
}

async function run({ options, folder, keep, seedOut }: RunOptions): Promise<void> {
  try {
    const service = await startBuiltInService(options);
    const caFile = join(folder, 'ca.pem');
    writePrivate(caFile, service.caPem);
    if (seedOut !== undefined) {
      writePrivate(seedOut, `${JSON.stringify(fullSeed(options.seed, service), null, 2)}\n`);
    }
    const stop = () => void service.stop();
    // Before the address is printed, because a caller may stop the service as soon as it has read it.
    process.on('SIGINT', stop).on('SIGTERM', stop);
    console.log(describe(service, caFile));
    await service.ended;
  } finally {
    if (!keep) rmSync(folder, { recursive: true, force: true });
  }
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError) return `The seed file is wrong.\n${z.prettifyError(error)}`;
  return error instanceof Error ? error.message : String(error);
}

try {
  const chosen = readOptions();
  if (chosen) await run(chosen);
  else console.log(usage);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
