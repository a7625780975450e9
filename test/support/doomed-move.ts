import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import { connection, detokenize, fakeService, openApp, planOf, someGrounds } from './batch-app.ts';
import { faultyDisk, type DiskFault } from './faulty-disk.ts';
import { moveFiles, type Ask } from './move-files.ts';

/**
 * The life of one process that moves files from one service to another, or goes on with what an earlier one began. It may
 * end at any change to the disk. Its last line is "done".
 */
interface Options {
  readonly home: string;
  readonly files: readonly string[];
  /** Where the results and the report go. */
  readonly to: string;
  readonly fault: DiskFault | null;
}
const { home, files, to, fault } = JSON.parse(process.argv[2] ?? '{}') as Options;
const other = { ...connection, id: 'c2', name: 'New service', policies: ['Fresh'] };
const [from, target] = [fakeService(500), fakeService(500)];
from.refuses = (value) => value.endsWith('00077');
const app = await openApp({
  home,
  service: from,
  clients: { for: (id) => Promise.resolve(done(id === 'c2' ? target.client : from.client)) },
  connections: {
    active: () => ({ connectionId: 'c1', policy: 'Disputes' }),
    find: (id) =>
      [connection, other].flatMap((one) => (one.id === id ? [done(one)] : []))[0] ??
      failed('connection.unknown'),
  },
});
const changes = await faultyDisk(fault);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);
app.exportFolder = to;
app.target = `${to}/report.json`;
const plan = planOf([
  detokenize(1, {
    ...{ operation: 'translate', definition: 'text' },
    target: { connection: 'c2', policy: 'Fresh', definition: 'text' },
  }),
]);
const ask: Ask = (call, input) =>
  (app.batch as unknown as Record<string, (input: unknown) => Promise<Outcome<never>>>)[call]?.(input) ??
  Promise.reject(new Error(call));
await moveFiles(ask, { files, plan, grounds: someGrounds });
tell(
  `sent ${from.sent.length} ${target.sent.length} acts ${app.audit.intents.filter(({ action }) => action === 'Move').length}`,
);
tell(`changes ${changes()}`);
tell('done');
process.exit(0);
