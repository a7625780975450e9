import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A gnome-keyring on a bus of its own, with a data folder of its own: it shares nothing with the person's. */
export interface PrivateKeyring {
  /** To be had by whatever shall use it. */
  readonly env: Record<string, string>;
  /** Locks every collection, as a person does in the keyring's own window. */
  lock(): void;
  unlock(): Promise<void>;
  /** Sends a signal to the daemon, and to no other. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void;
  stop(): Promise<void>;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const password = '\n';
const tools = ['dbus-daemon', 'dbus-send', 'gnome-keyring-daemon'];

/** What is missing here to run one. */
export function missingTools(): string[] {
  if (process.platform !== 'linux') return tools;
  return tools.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);
}

/** `owner`: another user of this system, whose it is; this process is root then. */
export async function startKeyring(owner?: Owner): Promise<PrivateKeyring> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'keyring-'));
  const runtime = path.join(home, 'run');
  fs.mkdirSync(runtime, { mode: 0o700 });
  if (owner !== undefined) for (const folder of [home, runtime]) fs.chownSync(folder, owner.uid, owner.gid);
  const folders = { XDG_DATA_HOME: home, XDG_RUNTIME_DIR: runtime, XDG_CACHE_HOME: home };
  const base = { ...process.env, ...folders };
  // Prompts could otherwise open on a person's screen.
  for (const name of ['DISPLAY', 'WAYLAND_DISPLAY', 'GNOME_KEYRING_CONTROL', 'DBUS_SESSION_BUS_ADDRESS']) {
    Reflect.deleteProperty(base, name);
  }

  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', '--print-address'], {
    env: base,
    stdio: ['ignore', 'pipe', 'ignore'],
    ...owner,
  });
  const address = await firstLine(bus);
  const env = { ...folders, DBUS_SESSION_BUS_ADDRESS: address };
  const all = { ...base, ...env };

  const { status } = spawnSync('gnome-keyring-daemon', ['--unlock', '--components=secrets'], {
    env: all,
    input: password,
    timeout: 20_000,
    stdio: ['pipe', 'ignore', 'ignore'],
    ...owner,
  });
  if (status !== 0) throw new Error('gnome-keyring-daemon did not start');

  return {
    env,
    unlock: () => unlock(path.join(runtime, 'keyring/control')),
    lock() {
      const collection = (name: string) => `/org/freedesktop/secrets/${name}`;
      const { status } = spawnSync(
        'dbus-send',
        [
          '--session',
          '--print-reply',
          '--dest=org.freedesktop.secrets',
          '/org/freedesktop/secrets',
          'org.freedesktop.Secret.Service.Lock',
          `array:objpath:${collection('collection/login')},${collection('aliases/default')}`,
        ],
        { env: all, timeout: 20_000 },
      );
      if (status !== 0) throw new Error('The keyring did not lock');
    },
    signal(signal) {
      for (const pid of processesOn(address, 'gnome-keyring-d')) process.kill(pid, signal);
    },
    async stop() {
      const exited = once(bus, 'exit');
      const others = processesOn(address);
      bus.kill();
      await exited;
      for (const pid of others) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // Gone with its bus.
        }
      }
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

/** As PAM does it at sign-in: a byte for the credentials, then length, operation 1, and the password. */
async function unlock(control: string): Promise<void> {
  const packet = Buffer.alloc(13 + password.length);
  packet.writeUInt32BE(12 + password.length, 1);
  packet.writeUInt32BE(1, 5);
  packet.writeUInt32BE(password.length, 9);
  packet.write(password, 13);
  const socket = net.connect(control);
  socket.end(packet);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (answer.readUInt32BE(4) !== 0) throw new Error('The keyring did not unlock');
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('No output');
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return line;
}

/** Processes that were started with this bus in their environment; this one is not among them. */
function processesOn(address: string, name?: string): number[] {
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^[0-9]+$/.test(entry) && Number(entry) !== process.pid)
    .filter((pid) => {
      try {
        if (name !== undefined && fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== name) return false;
        const environment = fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return environment.includes(`DBUS_SESSION_BUS_ADDRESS=${address}`);
      } catch {
        return false;
      }
    })
    .map(Number);
}
