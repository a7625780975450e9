import { createWriteStream } from 'node:fs';
import { once } from 'node:events';

/** The n-th token: 16 digits, each n another one, in no visible order. */
export const tokenOf = (n: number): string =>
  String(4_000_000_000_000_000 + ((n * 7_919_777_777) % 999_999_999_989));

/** A token and as many columns as a table may have, of seven to ten bytes each. */
export async function writeWideTable(path: string, rows: number, columns: number): Promise<void> {
  const out = createWriteStream(path);
  const others = Array.from({ length: columns - 1 }, (_, column) => `c${column + 1}`);
  out.write(`token,${others.join(',')}\r\n`);
  for (let n = 0; n < rows; n++) {
    const line = `${tokenOf(n)},${others.map((name) => `${name}-${n}`).join(',')}\r\n`;
    if (!out.write(line)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

/** A table as analysts have them: a token and columns that are only carried along. About 75 bytes a row. */
export async function writeTable(path: string, rows: number): Promise<void> {
  const out = createWriteStream(path);
  let text = 'case,token,customer,amount,opened,note\r\n';
  for (let n = 0; n < rows; n++) {
    const note = n % 10 === 0 ? '"called twice, angry"' : 'goods not received';
    text += `D-${n},${tokenOf(n)},Customer ${n % 5_000},${(n % 90_000) / 100},2026-0${(n % 9) + 1}-11,${note}\r\n`;
    if (text.length > 1_000_000) {
      if (!out.write(text)) await once(out, 'drain');
      text = '';
    }
  }
  out.end(text);
  await once(out, 'close');
}
