import { describe, expect, it } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { Inventory } from '../../../electron/contract/models/inventory.ts';
import { openApi } from '../../../src/lib/api.ts';
import { AppStore } from '../../../src/lib/app-store.svelte.ts';
import { BatchController } from '../../../src/features/batch/batch.svelte.ts';
import {
  cellsToSend,
  formatCounted,
  formatHeld,
  formatUnread,
  unplannedColumns,
} from '../../../src/features/batch/inventory/labels.ts';
import { createFakeBridge, type FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';
import { inventoryOf, nothingFound } from '../support/fake-inventory.ts';

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge(options);
  const api = openApi(fake.bridge);
  const app = new AppStore(api);
  await app.load();
  const controller = new BatchController(app, api);
  const seen = (call: string) => fake.seen.filter(({ name }) => name === call).map(({ input }) => input);
  const draft = async () => {
    await controller.choose();
    if (controller.draft === null) throw new Error('no draft');
    return controller.draft;
  };
  return { fake, controller, seen, draft };
}

const filesOf = (...names: string[]): File[] => names.map((name) => new File(['a'], name));

describe('what is in the file that is planned', () => {
  it('is asked for as the file is read and planned, and said to be old once that was changed', async () => {
    const { controller, seen, draft } = await open();
    const file = await draft();
    controller.showInventory();
    await expect.poll(() => file.inventory?.found?.files.length).toBe(1);
    const { reading } = data.preview;
    const source = { of: 'source', sourceId: 'source-1', reading, plan: [] };
    expect(seen('inventory.look')).toEqual([{ source }]);
    expect(file.inventoryIsOld).toBe(false);
    file.choose(1, 'detokenize');
    expect(file.inventoryIsOld).toBe(true);
    await file.lookInside();
    expect(seen('inventory.look').at(-1)).toMatchObject({
      source: { plan: [{ column: 1, operation: 'detokenize' }] },
    });
    expect(file.inventoryIsOld).toBe(false);
    await file.inventory?.save('html');
    expect(file.inventory?.saved).toBe('inventory.html');
    // The same command hides it.
    controller.showInventory();
    expect(file.inventory).toBeNull();
  });

  it('is stopped by a person, and by whatever leaves the file, and says only the former', async () => {
    const { controller, seen, draft } = await open({ looking: { share: 0.4, rows: 40, file: 'a.csv' } });
    const file = await draft();
    file.showInventory();
    await expect.poll(() => file.inventory?.progress?.rows).toBe(40);
    await file.inventory?.stop();
    await expect.poll(() => file.inventory?.stopped).toBe(true);
    expect([file.inventory?.isLooking, file.inventory?.failure]).toEqual([false, null]);
    void file.lookInside();
    await expect.poll(() => file.inventory?.progress?.rows).toBe(40);
    controller.leave();
    expect(seen('inventory.stop')).toHaveLength(2);
  });

  it('keeps its counts where another look fails, and says why', async () => {
    const answers: Inventory[] = [{ files: [inventoryOf([{ index: 0, name: 'a' }])], more: 0 }];
    const { draft } = await open({
      answers: {
        'inventory.look': () => {
          const next = answers.shift();
          return next === undefined ? failed('file.gone') : done(next);
        },
      },
    });
    const file = await draft();
    file.showInventory();
    await expect.poll(() => file.inventory?.found !== null).toBe(true);
    await file.lookInside();
    expect(file.inventory?.failure?.code).toBe('file.gone');
    expect(file.inventory?.found?.files).toHaveLength(1);
  });
});

describe('what is in files', () => {
  it('is asked of a folder, of files, and of what is dropped on it; elsewhere a drop is a batch', async () => {
    const { controller, seen } = await open();
    controller.showInventory();
    expect(controller.inventory?.found).toBeNull();
    await controller.inventory?.look({ of: 'folder' });
    await controller.inventory?.look({ of: 'files' });
    await controller.drop(filesOf('a.csv', 'b.csv'));
    expect(seen('inventory.look')).toEqual([{ source: { of: 'folder' } }, { source: { of: 'files' } }]);
    expect(seen('inventory.drop')).toEqual([{ references: ['a.csv', 'b.csv'] }]);
    controller.leave();
    await controller.drop(filesOf('a.csv', 'b.csv'));
    expect(seen('inventory.drop')).toHaveLength(1);
    expect(seen('batch.dropFiles')).toHaveLength(1);
    // A folder is none.
    await controller.drop(filesOf('archive'), true);
    expect(controller.draft).toBeNull();
    expect(seen('inventory.drop')).toHaveLength(2);
  });

  it('keeps what was found where nothing is chosen then', async () => {
    const answers: (Inventory | null)[] = [{ files: [], more: 3 }, null];
    const { controller } = await open({
      answers: { 'inventory.look': () => done(answers.shift() ?? null) },
    });
    controller.showInventory();
    await controller.inventory?.look({ of: 'folder' });
    await controller.inventory?.look({ of: 'folder' });
    expect([controller.inventory?.found?.more, controller.inventory?.failure]).toEqual([3, null]);
  });
});

describe('sentences', () => {
  const file = inventoryOf([
    { index: 0, name: 'card_number' },
    { index: 1, name: 'note' },
    { index: 2, name: 'amount' },
  ]);

  it('say what is in clear, what was left out, and what the plan leaves', () => {
    expect(formatHeld([file])).toBe(
      '500,135 cells with card numbers, 3 with IBANs, 1,845 with e-mail addresses',
    );
    expect(formatHeld([inventoryOf([{ index: 0, name: 'amount' }])])).toBe('');
    expect(formatCounted(file)).toBe('500,000 rows, 37 of them left out: they can’t be taken apart');
    expect(formatCounted({ ...file, leftOut: 0 })).toBe('500,000 rows');
    expect(cellsToSend(file)).toBeNull();
    const [first, ...others] = file.columns;
    if (first === undefined) throw new Error('no column');
    const planned = { ...file, columns: [{ ...first, leaves: 7 }, ...others] };
    expect(cellsToSend(planned)).toBe(7);
    expect(unplannedColumns(planned)).toEqual(['note']);
    expect(
      unplannedColumns({ ...planned, columns: [{ ...first, leaves: 0, found: nothingFound() }] }),
    ).toEqual([]);
  });

  it('say why a file was not read to its end', () => {
    expect(formatUnread(file)).toBe('');
    expect(formatUnread({ ...file, failure: { code: 'file.changed', subject: 'a.csv' } })).toBe(
      'It was changed while it was read. Counted is what was read before.',
    );
    expect(formatUnread({ ...file, columns: [], failure: { code: 'file.gone', subject: 'a.csv' } })).toMatch(
      /^a\.csv .*[^e]$/,
    );
  });
});
