import { cpuMs } from './figures.ts';

const pageBytes = 4_096;
const touchedBytes = 16 * 2 ** 20;
/** So much is mapped anew each time; less may be memory that was used before. */
const mappedBytes = 64 * 2 ** 20;

/**
 * Processor time of this thread, in milliseconds, until it has touched 16 MB of memory that nobody had before: as much as the
 * longest row that is read. A virtual machine may take 50 to 90 for it, which no other part of the bench tells.
 */
export function newMemoryMs(): number {
  const bytes = Buffer.allocUnsafeSlow(mappedBytes);
  const before = process.threadCpuUsage();
  for (let at = 0; at < touchedBytes; at += pageBytes) bytes[at] = 1;
  return cpuMs(process.threadCpuUsage(before));
}
