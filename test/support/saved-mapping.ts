import fs from 'node:fs';
import path from 'node:path';
import type { Asked } from '../../electron/commands/asked.ts';
import type { Mapping } from '../../electron/contract/models/mapping.ts';

export const monthCards = ['4111118124045251', '5500005555555559', '4012888888881881', '6011111111111117'];

/** Rows of a month's file, with its header. */
export const monthRows = (count: number, header = 'id,card,note'): string[] => [
  header,
  ...Array.from({ length: count }, (_, n) => `${n},${monthCards[n % monthCards.length] ?? ''},ok`),
];

export function writeLines(file: string, lines: readonly string[]): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

/** October by hand: the file is looked at, mapped, and the mapping saved as "Cards". */
export async function saveMapping(
  app: Pick<Asked, 'ask'>,
  file: string,
  { definition = 'card-number', ...given }: Partial<Mapping> & { readonly definition?: string } = {},
) {
  await app.ask('connections.startBuiltIn', {});
  const chosen = await app.ask('batch.drop', { reference: writeLines(file, monthRows(8)) });
  const preview = await app.ask('batch.preview', {
    sourceId: chosen.ok ? chosen.value.sourceId : '',
    reading: {},
    masked: null,
  });
  const state = await app.ask('app.state', {});
  if (!preview.ok || !state.ok || !('connections' in state.value)) throw new Error('Not ready');
  const { active, connections } = state.value;
  const connection = connections.find(({ id }) => id === active?.connectionId);
  const { id: _, ...over } = given;
  return app.ask('batch.saveMapping', {
    name: 'Cards',
    header: preview.value.columns.map(({ name }) => name),
    origin: { connectionId: connection?.id ?? '', environment: connection?.environment ?? '' },
    columns: [
      {
        header: 'card',
        operation: 'tokenize',
        policy: 'analyst',
        definition,
        target: null,
        parts: null,
        pattern: null,
        into: 'replace',
      },
    ],
    ...over,
  });
}
