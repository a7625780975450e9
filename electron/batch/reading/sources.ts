import { basename } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Source } from '../../contract/models/source.ts';
import { fromMemory, openFile, type ByteSource } from './bytes.ts';
import { look, type SaidReading } from './look.ts';
import type { Format } from './read-rows.ts';

/** A source the window has a handle for. The path stays here. */
export interface OpenSource {
  readonly source: Source;
  readonly path: string | null;
  readonly bytes: ByteSource;
}

export interface Sources {
  openPath(path: string): Promise<Outcome<Source>>;
  openText(text: string): Outcome<Source>;
  find(sourceId: string): Outcome<OpenSource>;
  /** How it is read, with what the person said. Remembered, so that preview, preflight and start agree. */
  format(sourceId: string, said: SaidReading): Promise<Outcome<Format>>;
  close(): Promise<void>;
}

/** More than these are not kept open at once; the oldest goes. */
const kept = 8;

export function createSources(newId: () => string): Sources {
  const open = new Map<string, OpenSource>();

  function add(name: string, path: string | null, bytes: ByteSource): Source {
    const source = { sourceId: newId(), name: name.slice(0, 300).toWellFormed(), bytes: bytes.identity.size };
    open.set(source.sourceId, { source, path, bytes });
    for (const [id, old] of open) {
      if (open.size <= kept) break;
      open.delete(id);
      void old.bytes.close();
    }
    return source;
  }

  function find(sourceId: string): Outcome<OpenSource> {
    const found = open.get(sourceId);
    return found === undefined ? failed('file.unknown') : done(found);
  }

  return {
    async openPath(path) {
      const bytes = await openFile(path);
      if (!bytes.ok) return bytes;
      if (bytes.value.identity.size === 0) {
        await bytes.value.close();
        return failed('file.empty');
      }
      return done(add(basename(path), path, bytes.value));
    },
    openText(text) {
      if (text.trim() === '') return failed('file.paste-empty');
      return done(add('Pasted rows', null, fromMemory(Buffer.from(text.toWellFormed()))));
    },
    find,
    async format(sourceId, said) {
      const found = find(sourceId);
      if (!found.ok) return found;
      const { bytes } = found.value;
      const same = await bytes.check();
      if (!same.ok) return same;
      // A spreadsheet copies blocks with tabs, in the encoding of the clipboard.
      const isPaste = found.value.path === null;
      return look(bytes, isPaste ? { ...said, encoding: 'utf-8' } : said);
    },
    async close() {
      await Promise.allSettled([...open.values()].map(({ bytes }) => bytes.close()));
      open.clear();
    },
  };
}
