import type { ServiceClient } from '../../electron/service/service-client.ts';
import { createClientSide, type AppTestOptions } from './client-side.ts';
import { FakeClock, seeded } from './fake-clock.ts';
import { createFakeWire, type FakeWire } from './fake-wire.ts';
import { ModelService, type ModelOptions, type ModelReply } from './model-service.ts';
import { assertAudited } from './row.ts';

export interface FakeWorld {
  readonly clock: FakeClock;
  readonly service: ModelService;
  readonly wire: FakeWire;
  readonly client: ServiceClient;
  /** Requests of the operations that left, sessions aside. */
  readonly sent: () => number;
}

export type FarScript = (
  operation: string,
  world: { readonly clock: FakeClock; readonly nth: number },
  model: () => ModelReply,
) => ModelReply;

export interface FakeWorldOptions {
  readonly script?: FarScript;
  readonly model?: Partial<ModelOptions>;
  readonly app?: Omit<AppTestOptions, 'transport' | 'clock'>;
  readonly clock?: FakeClock;
}

export const reply = (
  status: number,
  headers: Record<string, string> = {},
  json: unknown = {},
): ModelReply => ({
  status,
  headers: { 'x-requestid': 'req-far', ...headers },
  json,
});

/** Runs a proof in fake time, without a network: for faults that take minutes or days. */
export async function withFakeTime(
  proof: (world: FakeWorld) => Promise<void>,
  { script, model = {}, app = {}, clock = new FakeClock() }: FakeWorldOptions = {},
): Promise<void> {
  const random = seeded(11);
  const service = new ModelService({ now: () => clock.monotonic(), date: () => clock.now(), ...model });
  let sent = 0;
  const wire = createFakeWire(
    {
      answer(operation, body) {
        const sound = (): ModelReply => service.answer(operation, body);
        if (operation === 'createsession') return sound();
        sent++;
        return script ? script(operation, { clock, nth: sent }, sound) : sound();
      },
    },
    clock,
    random,
  );
  const side = createClientSide({ random, ...app, transport: wire, clock });
  try {
    await proof({ clock, service, wire, client: side.client, sent: () => sent });
    assertAudited(side);
  } finally {
    await clock.until(side.client.close());
  }
}
