import { expect, test } from 'vitest';
import { createRecordCipher, encryptionOverhead } from '../../../electron/storage/encryption.ts';

const masterKey = new Uint8Array(32).fill(1);
const cipher = createRecordCipher(masterKey, 'one');

/** Written by the first version of the application, under these keys: such files exist and must stay readable. */
const existingRecord = Buffer.from('GnsQFlWISKMI4cODSURqYjad3RYMQPWo4epcpBCrE42k4rA6EL9WZsan6xw=', 'base64');

test('decrypts what earlier versions wrote', () => {
  expect(cipher.decrypt(existingRecord, 'block 0')?.toString()).toBe('4111111111111111');
});

test('gives back what went in, each time under another nonce', () => {
  for (const clear of [Buffer.alloc(0), Buffer.from('value'), Buffer.alloc(100_000, 7)]) {
    const [first, second] = [cipher.encrypt(clear, 'x'), cipher.encrypt(clear, 'x')];
    expect(first.equals(second)).toBe(false);
    expect(first).toHaveLength(clear.length + encryptionOverhead);
    expect(cipher.decrypt(first, 'x')?.equals(clear)).toBe(true);
  }
});

test('uses no nonce twice', () => {
  const nonces = Array.from({ length: 2_000 }, () =>
    cipher.encrypt(Buffer.alloc(0), 'x').toString('hex', 0, 12),
  );
  expect(new Set(nonces)).toHaveProperty('size', 2_000);
});

test('does not decrypt what was moved, altered, cut or of another key', () => {
  const record = cipher.encrypt(Buffer.from('value'), 'x');
  expect(cipher.decrypt(record, 'y')).toBeNull();
  expect(createRecordCipher(masterKey, 'two').decrypt(record, 'x')).toBeNull();
  expect(createRecordCipher(new Uint8Array(32).fill(2), 'one').decrypt(record, 'x')).toBeNull();
  for (let index = 0; index < record.length; index++) {
    const altered = Buffer.from(record);
    altered[index] = (altered[index] ?? 0) ^ 1;
    expect(cipher.decrypt(altered, 'x')).toBeNull();
    expect(cipher.decrypt(record.subarray(0, index), 'x')).toBeNull();
  }
});
