import { done, failed } from '../../electron/contract/errors.ts';
import type { ColumnPlan } from '../../electron/contract/models/batch.ts';
import type { Connection } from '../../electron/contract/models/connection.ts';
import { connection, detokenize, type FakeService, type TestOptions } from './batch-app.ts';

/** The connection that values are moved to. */
export const other: Connection = {
  ...connection,
  id: 'c2',
  name: 'New service',
  policies: ['Fresh'],
  definitions: [{ name: 'pan', label: 'PAN', kind: 'text' }],
};

/** An app with two services. `all`: its connections, which a test may change meanwhile. */
export function movingOptions(
  { from, to }: { readonly from: FakeService; readonly to: FakeService },
  all: Connection[] = [connection, other],
): TestOptions {
  return {
    service: from,
    clients: {
      for: (id) => {
        const service = { [connection.id]: from, [other.id]: to }[id];
        return Promise.resolve(service === undefined ? failed('connection.unknown') : done(service.client));
      },
    },
    connections: {
      active: () => ({ connectionId: connection.id, policy: 'Disputes' }),
      find: (id) => {
        const found = all.find((one) => one.id === id);
        return found === undefined ? failed('connection.unknown') : done(found);
      },
    },
  };
}

export const move = (over: Partial<ColumnPlan> = {}): ColumnPlan =>
  detokenize(1, {
    operation: 'translate',
    definition: 'text',
    target: { connection: other.id, policy: 'Fresh', definition: 'pan' },
    ...over,
  });
