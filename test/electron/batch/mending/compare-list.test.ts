import { expect, it } from 'vitest';
import { forEachRow } from '../../../../electron/batch/mending/compare-list.ts';
import { failed } from '../../../../electron/contract/errors.ts';

it('a pass over the rows ends where it is stopped, and loads no more chunks', async () => {
  const loaded: number[] = [];
  const load = (index: number) => {
    loaded.push(index);
    return Promise.resolve(failed('file.changed'));
  };
  const signal = AbortSignal.abort();
  const passed = await forEachRow({ entries: [], load }, [{ row: 1 }], { signal }, () => undefined);
  expect(passed).toEqual(failed('service.cancelled'));
  expect(loaded).toEqual([]);
});
