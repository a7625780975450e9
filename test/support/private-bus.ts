import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/*
 * A D-Bus of its own, and something on it that owns names, emits signals and answers each question with one answer:
 * what logind and a screen saver do. Only the part of the wire format that this needs (D-Bus specification, "Message
 * Protocol"), little-endian.
 */

/** What is missing here to run one. */
export const missingBusTools = (): string[] =>
  ['dbus-daemon', 'gdbus'].filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);

export interface PrivateBus {
  /** A connection that owns this name. `answer` makes the body of each reply from the path that was asked. */
  own(name: string, answer?: (path: string) => Body): Promise<BusService>;
  readonly address: string;
  stop(): Promise<void>;
}

export interface BusService {
  emit(signal: { path: string; interface: string; member: string }, body: Body): void;
}

export interface Body {
  readonly signature: string;
  readonly bytes: Buffer;
}

export async function startPrivateBus(): Promise<PrivateBus> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bus-'));
  const socketPath = path.join(folder, 'bus');
  const args = [
    '--session',
    '--nofork',
    '--nopidfile',
    '--print-address',
    `--address=unix:path=${socketPath}`,
  ];
  const daemon = spawn('dbus-daemon', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [address] = (await once(createInterface({ input: daemon.stdout }), 'line')) as [string];
  return {
    address,
    own: (name, answer) => connect(socketPath, name, answer),
    async stop() {
      const exited = once(daemon, 'exit');
      daemon.kill();
      await exited;
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Values in the order of their signature. */
export function body(signature: string, write: (writer: Writer) => void): Body {
  const writer = createWriter();
  write(writer);
  return { signature, bytes: writer.done() };
}

export type Writer = ReturnType<typeof createWriter>;

function createWriter() {
  let bytes = Buffer.alloc(0);
  const append = (more: Uint8Array): void => {
    bytes = Buffer.concat([bytes, more]);
  };
  const writer = {
    align(size: number) {
      append(Buffer.alloc((size - (bytes.length % size)) % size));
    },
    byte: (value: number) => append(Buffer.from([value])),
    uint32(value: number) {
      writer.align(4);
      const word = Buffer.alloc(4);
      word.writeUInt32LE(value);
      append(word);
    },
    boolean: (value: boolean) => writer.uint32(value ? 1 : 0),
    string(value: string) {
      writer.uint32(Buffer.byteLength(value));
      append(Buffer.from(`${value}\0`));
    },
    signature(value: string) {
      writer.byte(value.length);
      append(Buffer.from(`${value}\0`));
    },
    /** Elements that are aligned to `size` bytes. The length does not count what aligns the first one. */
    array(size: number, write: () => void) {
      writer.uint32(0);
      const lengthAt = bytes.length - 4;
      writer.align(size);
      const start = bytes.length;
      write();
      bytes.writeUInt32LE(bytes.length - start, lengthAt);
    },
    raw: append,
    done: () => bytes,
  };
  return writer;
}

interface Message {
  readonly type: 'call' | 'reply' | 'signal';
  readonly fields: {
    path?: string;
    interface?: string;
    member?: string;
    destination?: string;
    replyTo?: number;
  };
  readonly body?: Body;
}

const types = { call: 1, reply: 2, signal: 4 } as const;

function encode({ type, fields, body: content }: Message, serial: number): Buffer {
  const writer = createWriter();
  for (const byte of [0x6c, types[type], 0, 1]) writer.byte(byte);
  writer.uint32(content?.bytes.length ?? 0);
  writer.uint32(serial);
  writer.array(8, () => {
    const field = (code: number, signature: string, value: string | number | undefined): void => {
      if (value === undefined) return;
      writer.align(8);
      writer.byte(code);
      writer.signature(signature);
      if (typeof value === 'number') writer.uint32(value);
      else if (signature === 'g') writer.signature(value);
      else writer.string(value);
    };
    field(1, 'o', fields.path);
    field(2, 's', fields.interface);
    field(3, 's', fields.member);
    field(5, 'u', fields.replyTo);
    field(6, 's', fields.destination);
    field(8, 'g', content?.signature);
  });
  writer.align(8);
  writer.raw(content?.bytes ?? Buffer.alloc(0));
  return writer.done();
}

interface Received {
  readonly type: number;
  readonly serial: number;
  readonly path: string;
  readonly sender: string;
  readonly replyTo: number;
  /** Of the whole message. */
  readonly length: number;
}

/** Null while the message is not all there. */
function decode(bytes: Buffer): Received | null {
  if (bytes.length < 16) return null;
  const fieldsEnd = 16 + bytes.readUInt32LE(12);
  const length = Math.ceil(fieldsEnd / 8) * 8 + bytes.readUInt32LE(4);
  if (bytes.length < length) return null;
  const received = { path: '', sender: '', replyTo: 0 };
  for (let at = 16; at < fieldsEnd;) {
    at = Math.ceil(at / 8) * 8;
    const [code = 0, , kind = 0] = bytes.subarray(at, at + 3);
    at += 4;
    if (kind === 0x67) at += 2 + (bytes[at] ?? 0);
    else if (kind === 0x75) {
      if (code === 5) received.replyTo = bytes.readUInt32LE(at);
      at += 4;
    } else {
      const end = at + 4 + bytes.readUInt32LE(at);
      const text = bytes.toString('utf8', at + 4, end);
      if (code === 1) received.path = text;
      if (code === 7) received.sender = text;
      at = end + 1;
    }
  }
  return { ...received, type: bytes[1] ?? 0, serial: bytes.readUInt32LE(8), length };
}

async function connect(
  socketPath: string,
  name: string,
  answer?: (path: string) => Body,
): Promise<BusService> {
  const socket = net.connect(socketPath);
  const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
  socket.write(`\0AUTH EXTERNAL ${uid}\r\n`);
  await once(socket, 'data');
  socket.write('BEGIN\r\n');

  let serial = 0;
  const send = (message: Message): number => {
    serial += 1;
    socket.write(encode(message, serial));
    return serial;
  };
  const waiting = new Map<number, () => void>();
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let message = decode(rest); message !== null; message = decode(rest)) {
      rest = rest.subarray(message.length);
      waiting.get(message.replyTo)?.();
      if (message.type === types.call && answer !== undefined)
        send({
          type: 'reply',
          fields: { destination: message.sender, replyTo: message.serial },
          body: answer(message.path),
        });
    }
  });
  socket.on('error', () => undefined);
  async function askBus(member: string, content?: Body): Promise<void> {
    const bus = 'org.freedesktop.DBus';
    const fields = { path: '/org/freedesktop/DBus', interface: bus, member, destination: bus };
    const number = send({ type: 'call', fields, ...(content !== undefined && { body: content }) });
    await new Promise<void>((resolve) => waiting.set(number, resolve));
  }
  await askBus('Hello');
  await askBus(
    'RequestName',
    body('su', (writer) => {
      writer.string(name);
      writer.uint32(0);
    }),
  );
  return {
    emit(signal, content) {
      send({ type: 'signal', fields: signal, body: content });
    },
  };
}
