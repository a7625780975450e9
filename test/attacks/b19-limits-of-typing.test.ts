import { describe, expect, test, vi } from 'vitest';
import { calls } from '../../electron/contract/calls.ts';
import { type ManagedOptions, readManagedSettings } from '../../electron/settings/read-managed-settings.ts';

const card = {
  name: 'card-number',
  label: 'Card',
  kind: 'card',
  enabled: true,
  keepFirst: 6,
  keepLast: 4,
  maskCharacter: '*',
  luhn: 'any',
  maxBytes: null,
};

describe('masks that an administrator types', () => {
  const save = calls['administration.saveDefinition'].input;
  const accepts = (over: object): boolean =>
    save.safeParse({ create: false, definition: { ...card, ...over } }).success;

  test('of a card never show more than 6 and 4', () => {
    expect(accepts({})).toBe(true);
    expect(accepts({ keepFirst: null, keepLast: null })).toBe(true);
    for (const over of [{ keepFirst: 7 }, { keepLast: 5 }, { keepFirst: 12 }, { keepFirst: 0, keepLast: 10 }])
      expect([over, accepts(over)]).toEqual([over, false]);
  });

  test('nor does the preview', () => {
    const preview = calls['administration.previewDefinition'].input;
    expect(preview.safeParse({ ...card, keepFirst: 12 }).success).toBe(false);
  });

  test('of a text may show what its administrator chooses', () => {
    expect(accepts({ kind: 'text', keepFirst: 10, keepLast: 10 })).toBe(true);
  });
});

describe('the reader of the policy on Windows', () => {
  async function readers(libraries: ManagedOptions['libraries']): Promise<string[]> {
    vi.stubEnv('SystemRoot', 'C:\\Users\\ada\\mine');
    const asked: string[] = [];
    await readManagedSettings({
      os: 'win32',
      uid: 0,
      folder: '',
      user: 'ada',
      ...(libraries !== undefined && { libraries }),
      run: (file) => (asked.push(file), Promise.resolve('')),
    });
    vi.unstubAllEnvs();
    return asked;
  }

  test('is the system’s own, whatever the environment names', async () => {
    const libraries = ['D:\\Tokendesk\\Tokendesk.exe', 'E:\\WINNT\\SYSTEM32\\ntdll.dll', 'E:\\other.dll'];
    expect(await readers(() => libraries)).toEqual(['E:\\WINNT\\SYSTEM32\\reg.exe']);
    expect(await readers(() => [])).toEqual(['C:\\Windows\\System32\\reg.exe']);
    expect(await readers(undefined)).toEqual(['C:\\Windows\\System32\\reg.exe']);
  });
});
