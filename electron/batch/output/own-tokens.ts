import { createHmac } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { done, type Outcome } from '../../contract/errors.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { Keychain } from '../../storage/keychain.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createSerialQueue } from '../../util/serial-queue.ts';
import { yieldsMasks } from '../planning/plan.ts';
import { beginning, readRows, type Format } from '../reading/read-rows.ts';
import { keyAccount } from '../storing/job-files.ts';
import { joinRows, openJoin, writtenEntries } from './join.ts';
import { createTokenRows, type ExportRequest } from './output-rows.ts';
import type { OpenJob } from './remaining.ts';
import { noOutput } from './row-output.ts';

/**
 * The first tokens of the files that were exported, as keyed hashes: a column of them is not tokenized once more without a
 * question, whatever the file is called by now and whatever program saved it.
 */
export interface OwnTokens {
  /** Never fails an export: what can't be remembered is not asked about later. */
  remember(open: OpenJob, choice: Pick<ExportRequest, 'content' | 'rows'>): Promise<void>;
  /** The columns whose first values are such tokens, half of them or more. Failures: file.*, row.field-too-long. */
  columnsOf(
    source: Pick<ByteSource, 'identity' | 'read'>,
    format: Format,
    columns: readonly number[],
  ): Promise<Outcome<number[]>>;
}

const maxValues = 200;
const maxExports = 100;
const remembered = z.array(z.array(z.string()));

export function createOwnTokens({
  file,
  keychain,
}: {
  readonly file: string;
  readonly keychain: Pick<Keychain, 'key'>;
}): OwnTokens {
  const queue = createSerialQueue();

  async function load(): Promise<readonly string[][]> {
    try {
      return remembered.parse(JSON.parse(await fs.readFile(file, 'utf8')));
    } catch {
      return [];
    }
  }

  async function createHash(): Promise<((token: string) => string) | null> {
    const key = await keychain.key(keyAccount);
    if (!key.ok) return null;
    return (token) => createHmac('sha256', key.value).update(`own token ${token}`).digest('hex').slice(0, 16);
  }

  return {
    remember: (open, choice) =>
      queue(async () => {
        const hasTokens = open.job.work.some(({ plan }) => !yieldsMasks(plan.operation));
        const hash = hasTokens || choice.content === 'tokens' ? await createHash() : null;
        if (hash === null) return;
        const first = new Set<string>();
        const { job, store, source } = open;
        const tokens = createTokenRows(job.work, {
          token: (token) => {
            if (first.size < maxValues) first.add(openCleartext(token).trim());
          },
        });
        const join = {
          ...openJoin(source, store),
          format: job.spec.format,
          rows: tokens,
          output: noOutput,
        };
        for (const entry of writtenEntries(store, choice)) {
          if (first.size >= maxValues) break;
          if (!(await joinRows(join, [entry])).ok) return;
        }
        if (first.size === 0) return;
        const others = (await load()).slice(0, maxExports - 1);
        await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 }).catch(() => undefined);
        await writeFileAtomically(file, JSON.stringify([Array.from(first, hash), ...others]));
      }).catch(() => undefined),

    async columnsOf(source, format, columns) {
      const known = columns.length === 0 ? [] : await load();
      const hash = known.length === 0 ? null : await createHash();
      if (hash === null) return done([]);
      const own = new Set(known.flat());
      for await (const chunk of readRows(source, format, beginning(format), { rows: maxValues })) {
        if (!chunk.ok) return chunk;
        const { table, flaws } = chunk.value;
        const isOwn = (column: number): boolean => {
          const values = new Set<string>();
          for (let row = 0; row < Math.min(table.count, maxValues); row++) {
            const value = flaws.has(row) ? '' : openCleartext(table.value(row, column)).trim();
            if (!isBlank(value)) values.add(value);
          }
          const found = [...values].filter((value) => own.has(hash(value))).length;
          return found > 0 && found * 2 >= values.size;
        };
        return done(columns.filter(isOwn));
      }
      return done([]);
    },
  };
}
