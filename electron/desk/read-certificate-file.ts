import fs from 'node:fs/promises';
import path from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';

/** A PKCS #12 file has a few kilobytes; what is larger is something else. */
const mostBytes = 1024 * 1024;

/** The bytes of a file a person chose. Failures: file.unreadable, certificate.invalid (over 1 MiB, or no file). */
export async function readCertificateFile(file: string): Promise<Outcome<Buffer>> {
  const subject = path.basename(file).slice(0, 300);
  try {
    // Looked at before it is opened: a named pipe would never answer.
    const found = await fs.stat(file);
    if (!found.isFile() || found.size > mostBytes) return failed('certificate.invalid', { subject });
    const handle = await fs.open(file, 'r');
    try {
      const bytes = Buffer.alloc(mostBytes + 1);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      if (bytesRead > mostBytes) return failed('certificate.invalid', { subject });
      return done(bytes.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch {
    return failed('file.unreadable', { subject });
  }
}
