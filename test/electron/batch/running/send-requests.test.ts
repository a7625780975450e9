import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AuditEnd } from '../../../../electron/audit/entries.ts';
import { ValueCoalescer, type BatchRequest } from '../../../../electron/batch/running/coalescing.ts';
import { createRequestSender, type RequestSender } from '../../../../electron/batch/running/send-requests.ts';
import { createRequestAudit } from '../../../../electron/connections/clients.ts';
import { done, failed, type Outcome } from '../../../../electron/contract/errors.ts';
import type { BatchCall } from '../../../../electron/service/service-client.ts';
import { connectTo, type ClientSide } from '../../../faults/client-side.ts';
import { send, startFaultServer, type FaultServer } from '../../../faults/fault-server.ts';

/* Requests, and their lines in the audit log: no request leaves before its line is synced. */

const call: BatchCall = { operation: 'BatchDetokenize', policy: 'p', definition: 'card' };
const maxInFlight = 2;

interface Line {
  readonly action: string;
  readonly rows: number | undefined;
  readonly later: boolean | undefined;
  /** The disk says that the line is on it, or that it can't be. */
  readonly sync: (outcome?: Outcome<null>) => void;
  end: AuditEnd | null;
}

let server: FaultServer;
let side: ClientSide;
let lines: Line[];
let onLine: () => void;
/** How often a line was asked for before its time. */
let hurried: number;
let onHurry: () => void;
/** The next batch is answered with 503. */
let isFailing: boolean;

beforeEach(async () => {
  isFailing = false;
  server = await startFaultServer({
    script: ({ operation }, response, model) => {
      if (operation !== 'batchdetokenize' || !isFailing) {
        model();
        return;
      }
      isFailing = false;
      send(response, 503, {});
    },
  });
  lines = [];
  onLine = () => undefined;
  hurried = 0;
  onHurry = () => undefined;
  const hurry = () => {
    hurried += 1;
    onHurry();
  };
  const begin: Parameters<typeof createRequestAudit>[0]['begin'] = ({ action, rows, later }) =>
    new Promise((resolve) => {
      const line: Line = {
        action,
        rows,
        later,
        sync: (outcome = done(null)) => resolve(outcome.ok ? done((end) => void (line.end = end)) : outcome),
        end: null,
      };
      lines.push(line);
      if (action === 'CreateSession') line.sync();
      onLine();
    });
  side = connectTo(server, {
    auditRequest: createRequestAudit({ begin, hurry }, { name: 'c', environment: 'test' }),
  });
});
afterEach(async () => {
  await side.client.close();
  await server.close();
});

const batchLines = (): Line[] => lines.filter(({ action }) => action === call.operation);

function untilLines(count: number): Promise<void> {
  return new Promise((resolve) => {
    onLine = () => {
      if (batchLines().length >= count) resolve();
    };
    onLine();
  });
}

function startSending(count: number): { sender: RequestSender; requests: BatchRequest[] } {
  const requests: BatchRequest[] = [];
  const sender = createRequestSender({
    client: side.client,
    maxInFlight,
    context: { job: 'job' },
    mayBegin: () => true,
    onWaiting: () => undefined,
    onBegin: () => undefined,
    onSettled: () => undefined,
    outages: 0,
  });
  const coalescer = new ValueCoalescer(call, (request) => {
    requests.push(request);
    sender.send(request);
  });
  for (let n = 0; n < count; n++) coalescer.slotFor(`tok_${n}`, 1, 1);
  return { sender, requests };
}

it('begins the lines of twice as many requests as are under way, and sends none before its line is synced', async () => {
  const { sender, requests } = startSending(10);
  await untilLines(maxInFlight * 3);
  expect(server.count('batchdetokenize')).toBe(0);
  expect(batchLines()).toHaveLength(maxInFlight * 3);
  expect(batchLines().filter(({ later }) => later)).toHaveLength(maxInFlight * 2);

  // The disk takes those that wait first: they still wait for their turn.
  for (const line of batchLines().slice(0, maxInFlight)) line.sync();
  onLine = () => {
    for (const line of batchLines()) line.sync();
  };
  onLine();
  await sender.idle();
  expect(await Promise.all(requests.map(({ settled }) => settled))).toEqual(requests.map(() => null));
  expect(batchLines()).toHaveLength(10);
  expect(server.count('batchdetokenize')).toBe(10);
  for (const { end, rows } of batchLines()) {
    expect(rows).toBe(1);
    expect(end).toMatchObject({ ok: true, requestId: expect.any(String) as string });
  }
});

it('asks for the line of a request whose turn has come, and not for one that is written', async () => {
  const { sender } = startSending(maxInFlight * 2);
  await untilLines(maxInFlight * 2);
  const first = batchLines().filter(({ later }) => later !== true);
  const next = batchLines().filter(({ later }) => later);
  next[0]?.sync();
  expect(hurried).toBe(0);
  for (const line of first) line.sync();
  await new Promise<void>((resolve) => (onHurry = resolve));
  for (const line of next) line.sync();
  await sender.idle();
  expect(hurried).toBe(maxInFlight - 1);
});

it('ends the line of a request that never left as not sent', async () => {
  const { sender, requests } = startSending(10);
  await untilLines(maxInFlight * 3);
  sender.stop({ code: 'job.braked' });
  for (const line of batchLines()) line.sync();
  await sender.idle();
  expect(server.count('batchdetokenize')).toBe(maxInFlight);
  expect(await Promise.all(requests.map(({ settled }) => settled))).toEqual([
    ...Array.from({ length: maxInFlight }, () => null),
    ...Array.from({ length: 10 - maxInFlight }, () => ({ code: 'job.braked' })),
  ]);
  const unsent = batchLines().filter(({ end }) => end?.sent === false);
  expect(unsent).toHaveLength(maxInFlight * 2);
  for (const { end } of unsent) expect(end).toMatchObject({ ok: false, code: 'service.cancelled' });
});

it('sends nothing whose line can not be written', async () => {
  const { sender, requests } = startSending(10);
  onLine = () => {
    for (const line of batchLines()) line.sync(failed('audit.unwritable'));
  };
  onLine();
  await sender.idle();
  expect(server.count('batchdetokenize')).toBe(0);
  const stops = await Promise.all(requests.map(({ settled }) => settled));
  for (const stop of stops) expect(stop).toMatchObject({ code: 'audit.unwritable' });
});

it('gives a request that is sent again a line of its own', async () => {
  isFailing = true;
  const { sender, requests } = startSending(1);
  onLine = () => {
    for (const line of batchLines()) line.sync();
  };
  onLine();
  await sender.idle();
  expect(await requests[0]?.settled).toBeNull();
  expect(batchLines().map(({ end }) => end?.ok)).toEqual([false, true]);
});
