import path from 'node:path';
import type { Job } from '../../electron/contract/models/batch.ts';
import { fileKeyring } from './file-keyring.ts';
import { expectDone, moveFiles } from './move-files.ts';
import type { ServiceProcess } from './service-process.ts';
import { obscured, openWholeApp } from './whole-app.ts';
import { someGrounds } from './batch-app.ts';

/**
 * The life of one process of the app that moves files from one connection to another, or goes on with what an earlier one
 * began. It prints how far it is, and may be killed at any moment. Its last line is "done".
 */
interface Options {
  readonly home: string;
  readonly files: readonly string[];
  /** Where the results and the report go. */
  readonly to: string;
  readonly services: readonly Pick<ServiceProcess, 'baseUrl' | 'ca' | 'apiKey' | 'password'>[];
}
/** Of the shipped account of the built-in service. */
const policy = 'analyst';
const definition = 'card-number';

const { home, files, to, services } = JSON.parse(process.argv[2] ?? '{}') as Options;
const sent = new Map<string, number>();
const written = new Map<string, number>();
const sumOf = (counts: Map<string, number>): number =>
  [...counts.values()].reduce((sum, one) => sum + one, 0);
const app = await openWholeApp({
  home,
  keyring: fileKeyring(path.join(home, '..', 'keyring.json')),
  platform: {
    chooseFolder: () => Promise.resolve(to),
    chooseTarget: () => Promise.resolve(path.join(to, 'report.json')),
    send(event, payload) {
      if (event === 'batch.job') {
        const { jobId, tally } = payload as Job;
        sent.set(jobId, tally.rows);
      } else if (event === 'batch.exporting') {
        const { jobId, rows } = payload as { jobId: string; rows: number };
        written.set(jobId, rows);
      } else return;
      process.stdout.write(`rows ${sumOf(sent)} ${sumOf(written)}\n`);
    },
  },
});

const state = expectDone(await app.ask('app.state', {}));
let ids = 'connections' in state ? state.connections.map(({ id }) => id) : [];
if (ids.length < services.length) {
  ids = [];
  for (const [n, { baseUrl, ca, apiKey, password }] of services.entries()) {
    const { id } = expectDone(
      await app.ask('connections.save', {
        ...{
          id: null,
          name: ['Old', 'New'][n] ?? '',
          environment: 'test',
          baseUrl,
          extraCa: ca,
          proxyUser: '',
        },
        ...{ policies: [policy], definitions: [{ name: definition, label: 'Card', kind: 'card' }] },
        ...{ accountId: '', tenantId: '', apiKeyExpires: null },
        ...{ requestsPerSecond: 600, transfersPerDay: 10_000_000 },
      }),
    );
    const keep = async (
      secret: { kind: 'apiKey' } | { kind: 'policyPassword'; policy: string },
      value: string,
    ) => expectDone(await app.ask('connections.storeSecret', { id, secret, value: obscured(value) }));
    await keep({ kind: 'apiKey' }, apiKey);
    await keep({ kind: 'policyPassword', policy }, password);
    ids.push(id);
  }
  expectDone(await app.ask('connections.choose', { id: ids[0] ?? '', policy }));
}
for (const { jobId, tally } of expectDone(await app.ask('batch.jobs', {}))) sent.set(jobId, tally.rows);
await moveFiles((call, input) => app.ask(call, input), {
  files,
  grounds: someGrounds,
  plan: {
    reading: { encoding: 'utf-8', delimiter: ',', header: true },
    columns: [
      {
        ...{
          column: 1,
          operation: 'translate',
          policy,
          definition,
          parts: null,
          pattern: null,
          into: 'replace',
        },
        target: { connection: ids[1] ?? '', policy, definition },
      },
    ],
  },
});
await app.close();
process.stdout.write('done\n');
process.exit(0);
