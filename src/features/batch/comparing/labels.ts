import type { Comparison } from '../../../../electron/contract/models/compared.ts';
import { formatCount } from '../../../lib/format.ts';
import { columnOf, type ComparedRow, type Side } from './file-comparison.svelte.ts';

/** "1", "1 and 2", "1, 2 and 4": files by their number on the page. */
export function formatFiles(files: readonly number[]): string {
  const numbers = files.map((file) => formatCount(file + 1));
  const last = numbers.pop() ?? '';
  return numbers.length === 0 ? last : `${numbers.join(', ')} and ${last}`;
}

/** "In all", "In 1 and 2", "Only in 3". */
export function formatGroup(files: readonly number[], all: number): string {
  if (files.length === all) return all === 2 ? 'In both' : 'In all';
  return `${files.length === 1 ? 'Only in' : 'In'} ${formatFiles(files)}`;
}

/** In which files the value of a row is. */
export function formatWhere({ inFiles }: Pick<ComparedRow, 'inFiles'>, all: number): string {
  return inFiles.length === 0 ? 'Not compared' : formatGroup(inFiles, all);
}

/** What makes a comparison of these sides say little; '' where nothing does. A value and its token are never equal. */
export function formatDoubt(sides: readonly Side[]): string {
  const at = (content: 'cleartext' | 'tokens'): number =>
    sides.findIndex((side) => columnOf(side)?.content === content);
  const [clear, tokens] = [at('cleartext'), at('tokens')];
  if (clear < 0 || tokens < 0) return '';
  return `${formatCount(clear + 1)} seems to hold values in clear and ${formatCount(tokens + 1)} tokens, which are never equal. Tokenize ${sides[clear]?.name ?? ''} as a batch, and compare the batch.`;
}

/** Values that all files have, and whether there is nothing else: the one thing that is asked for mostly. */
export const sharedByAll = ({ files, groups }: Comparison): Comparison['groups'][number] | undefined =>
  groups.find((group) => group.files.length === files.length);
