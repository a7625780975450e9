import { once } from 'node:events';
import type { Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the thread's processor. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * What tasks the main threads of renderers had while `act` ran, the longest first, in milliseconds of processor time: wall
 * time on a busy machine says nothing about the page.
 */
export async function traceTasks<T>(
  page: Page,
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly tasks: readonly number[] }> {
  const protocol = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  protocol.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const included = ['toplevel', 'devtools.timeline', '__metadata'];
  await protocol.send('Tracing.start', { traceConfig: { includedCategories: included } });
  const result = await act();
  const complete = once(protocol as never, 'Tracing.tracingComplete');
  await protocol.send('Tracing.end');
  await complete;
  await protocol.detach();
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}:${tid}`;
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  const tasks = events
    .filter((event) => event.name.endsWith('RunTask') && mains.has(threadOf(event)))
    .map(({ tdur = 0 }) => tdur / 1_000)
    .sort((a, b) => b - a);
  if (tasks.length === 0) throw new Error('the trace has no tasks');
  return { result, tasks };
}
