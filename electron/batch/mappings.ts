import { randomUUID } from 'node:crypto';
import type { Handlers } from '../contract/calls.ts';
import { done, type Outcome } from '../contract/errors.ts';
import { type ExportChoice, exportForm, type Job } from '../contract/models/batch.ts';
import { mapping as mappingSchema, type Mapping } from '../contract/models/mapping.ts';
import type { StoredMapping } from '../settings/settings.ts';
import { createRecordCipher } from '../storage/encryption.ts';
import type { BatchOptions } from './options.ts';
import { keyAccount } from './storing/job-files.ts';

export type MappingCalls = Pick<
  Handlers<'batch'>,
  'batch.mappings' | 'batch.saveMapping' | 'batch.removeMapping'
>;

/** Plans stored by name, encrypted: their columns' names may be the first row of a file without a header. */
export interface Mappings {
  readonly calls: MappingCalls;
  /** What a person has accepted with this one. */
  accepted(name: string | null): Promise<Mapping['notices']>;
  /** How the last result of this one was written by hand; null where none was. */
  exported(name: string | null): Promise<Mapping['exported'] | null>;
  /** Keeps how a result was written by hand, with the folder and why values of it failed. Only of a whole one without cleartext, which needs its reason each time. */
  rememberExport(
    { mapping, failures }: Pick<Job, 'mapping' | 'failures'>,
    choice: ExportChoice,
    folder: string,
  ): Promise<void>;
}

export function createMappings({ keychain, store }: Pick<BatchOptions, 'keychain' | 'store'>): Mappings {
  /**
   * Folders that main itself wrote to, in this run or an earlier one: a window can't name one that a command would write
   * to later, without a dialog.
   */
  const folders = new Set<string>();

  async function all(): Promise<Outcome<Mapping[]>> {
    const stored = store.read('mappings');
    if (stored.every((mapping) => 'columns' in mapping)) return done(stored);
    const key = await keychain.key(keyAccount);
    if (!key.ok) return key;
    const mappings = stored.flatMap((one) => decryptMapping(one, key.value) ?? []);
    for (const { exported } of mappings) if (exported?.folder !== undefined) folders.add(exported.folder);
    return done(mappings);
  }

  async function save({ name, ...stored }: Omit<Mapping, 'id'>): Promise<Outcome<{ id: string }>> {
    const key = await keychain.key(keyAccount);
    if (!key.ok) return key;
    const id = randomUUID();
    // It replaces one of the same name.
    const others = store.read('mappings').filter((mapping) => mapping.name !== name);
    const cipher = createRecordCipher(key.value, id);
    const encrypted = cipher.encrypt(Buffer.from(JSON.stringify(stored)), mappingContext).toString('base64');
    const saved = store.write('mappings', [...others, { id, name, encrypted }]);
    return saved.ok ? done({ id }) : saved;
  }

  async function find(name: string | null): Promise<Mapping | null> {
    if (name === null) return null;
    const mappings = await all();
    return mappings.ok ? (mappings.value.find((mapping) => mapping.name === name) ?? null) : null;
  }

  return {
    calls: {
      'batch.mappings': all,
      async 'batch.saveMapping'({ exported, ...mapping }) {
        const kept = (await find(mapping.name))?.exported;
        const { folder, ...form } = exported ?? kept ?? {};
        if (!('format' in form)) return save(mapping);
        const isKnown = folder !== undefined && folders.has(folder);
        return save({ ...mapping, exported: isKnown ? { ...form, folder } : form });
      },
      'batch.removeMapping'({ id }) {
        const others = store.read('mappings').filter((mapping) => mapping.id !== id);
        const saved = store.write('mappings', others);
        return Promise.resolve(saved.ok ? done({}) : saved);
      },
    },
    accepted: async (name) => (await find(name))?.notices,
    exported: async (name) => (await find(name))?.exported ?? null,
    async rememberExport({ mapping: name, failures }, choice, folder) {
      const form = choice.passphrase === null ? exportForm.safeParse(pickForm(choice)) : null;
      const mapping = form?.success === true ? await find(name) : null;
      if (mapping === null || form?.data === undefined) return;
      folders.add(folder);
      const { id: _, ...rest } = mapping;
      const codes = [...new Set(failures.map(({ code }) => code))];
      await save({ ...rest, exported: { ...form.data, folder, failures: codes } });
    },
  };
}

const pickForm = (choice: ExportChoice): Partial<ExportChoice> =>
  Object.fromEntries(
    Object.keys(exportForm.shape).map((member) => [member, choice[member as keyof ExportChoice]]),
  );

const mappingContext = 'mapping';

/** Null for one that was altered or encrypted under another key. */
function decryptMapping(mapping: StoredMapping, masterKey: Uint8Array): Mapping | null {
  if ('columns' in mapping) return mapping;
  const { id, name, encrypted } = mapping;
  const cleartext = createRecordCipher(masterKey, id).decrypt(
    Buffer.from(encrypted, 'base64'),
    mappingContext,
  );
  if (cleartext === null) return null;
  const stored: unknown = JSON.parse(cleartext.toString());
  // An earlier version stored the columns alone.
  const inside = Array.isArray(stored) ? { columns: stored as unknown } : stored;
  const read = mappingSchema.safeParse(Object.assign({ id, name }, inside));
  return read.success ? read.data : null;
}
