import { done } from '../../contract/errors.ts';
import type { Batch } from '../batch.ts';
import type { BatchParts } from '../parts.ts';

type Calls = Pick<Batch, 'batch.mappings' | 'batch.saveMapping' | 'batch.removeMapping'>;

/** Mappings kept by name. */
export function createMappingCalls({ mappings, newId }: Pick<BatchParts, 'mappings' | 'newId'>): Calls {
  return {
    'batch.mappings': () => Promise.resolve(done([...mappings.load()])),
    async 'batch.saveMapping'({ name, columns }) {
      const id = newId();
      // A mapping saved under a name that is there takes its place.
      const others = mappings.load().filter((one) => one.name !== name);
      await mappings.save([...others, { id, name, columns }]);
      return done({ id });
    },
    async 'batch.removeMapping'({ id }) {
      await mappings.save(mappings.load().filter((one) => one.id !== id));
      return done({});
    },
  };
}
