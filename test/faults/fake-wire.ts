import type { Transport } from '../../electron/service/http/transport.ts';
import type { Exchange } from '../../electron/service/http/exchange.ts';
import type { FakeClock } from './fake-clock.ts';
import type { ModelReply } from './model-service.ts';

export interface FakeWire extends Pick<Transport, 'send' | 'reset' | 'close'> {
  /** When requests left. */
  readonly left: number[];
}

/** What answers at the far end: the model, or something worse. */
export interface FarEnd {
  answer(operation: string, body: Record<string, unknown>): ModelReply;
}

/** A transport without a network: the model's answer after a chance delay there and back, in fake time. */
export function createFakeWire(
  service: FarEnd,
  clock: FakeClock,
  random: () => number,
  delayMs: readonly [least: number, most: number] = [1, 5],
): FakeWire {
  const delay = (): Promise<void> => clock.wait(delayMs[0] + random() * (delayMs[1] - delayMs[0]));
  const left: number[] = [];
  return {
    left,
    async send({ path }, json, { signal } = {}): Promise<Exchange> {
      left.push(clock.monotonic());
      await delay();
      if (signal?.aborted) return { ok: false, fault: { kind: 'cancelled' } };
      const body = JSON.parse(json ?? '{}') as Record<string, unknown>;
      const reply = service.answer(path.split('/').at(-1) ?? '', body);
      await delay();
      const headers = { date: new Date(clock.now()).toUTCString(), ...reply.headers };
      return {
        ok: true,
        reply: { status: reply.status, headers, body: Buffer.from(JSON.stringify(reply.json)) },
      };
    },
    reset: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
