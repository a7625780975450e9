import { openHarness } from './harness.ts';
import { type Timed, timed } from './timed.ts';

/**
 * What a search takes in a finished job of many columns, after a start of the app. Options as JSON in the first argument;
 * figures as JSON on the last line.
 */
const { home, jobId } = JSON.parse(process.argv[2] ?? '{}') as { home: string; jobId: string };
const harness = await openHarness({ home, url: 'https://127.0.0.1:9', ca: '', output: '', inFlight: 8 });

async function find(text: string, after: number): Promise<number> {
  const answer = await harness.batch['batch.find']({ jobId, filter: 'all', text, after, backwards: false });
  if (!answer.ok) throw new Error(answer.failure.code);
  return answer.value?.position ?? -1;
}

const steps: Record<string, Timed> = {};
steps['nowhere'] = await timed(() => find('no such text', -1));
let first = -1;
steps['find'] = await timed(async () => (first = await find('c777-19999', -1)));
steps['next'] = await timed(() => find('c777-19999', first));
if (first !== 19_999) throw new Error('the text of the last row was not found');
await harness.close();
process.stdout.write(`${JSON.stringify(steps)}\n`);
