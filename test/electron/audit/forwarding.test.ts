import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { logFolder, value } from '../../support/audit-folder.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const rsyslogd = ['/usr/sbin/rsyslogd', '/usr/bin/rsyslogd'].find((file) => fs.existsSync(file));
const guide = fs.readFileSync('docs/administrators-guide.md', 'utf8');
const example = /^```rsyslog\n([^]*?)^```$/m.exec(guide)?.[1] ?? '';

/** A machine that logs are sent to. `received` answers the lines once there are `count` different ones. */
async function startReceiver() {
  let text = '';
  const server = net.createServer((socket) => {
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      server.emit('more');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  async function received(count: number): Promise<string[]> {
    for (;;) {
      // rsyslog sends a line again when it is not sure of the first time.
      const lines = [...new Set(text.split('\n').slice(0, -1))];
      if (lines.length >= count) return lines;
      await once(server, 'more');
    }
  }
  return { port: (server.address() as AddressInfo).port, received };
}

test.skipIf(rsyslogd === undefined)(
  'the guide’s rsyslog example forwards each line of the audit log as it is (rsyslogd)',
  async () => {
    const log = logFolder();
    const audit = await log.open({ rotateBytes: 3_000 });
    for (let count = 0; count < 8; count++)
      value(await audit.begin({ action: 'Reveal', reason: 'Grüße "1"', caseReference: 'D-1' }));
    await audit.close();
    const written = log.files().flatMap((_, index) =>
      fs
        .readFileSync(log.file(index + 1), 'utf8')
        .trim()
        .split('\n'),
    );
    expect(written.length).toBeGreaterThan(9);

    const { port, received } = await startReceiver();
    const work = tempFolder();
    const config = path.join(work, 'rsyslog.conf');
    const own = example
      .replace('/home/*/.config/Tokendesk/audit', log.folder)
      .replace('log.example', '127.0.0.1')
      .replace('"514"', `"${port}"`);
    fs.writeFileSync(config, `global(workDirectory="${work}")\n${own}`);
    const { status, stderr } = spawnSync(rsyslogd ?? '', ['-N1', '-f', config], { encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 0 });

    const daemon = spawn(rsyslogd ?? '', ['-n', '-iNONE', '-f', config], { stdio: 'ignore' });
    const ended = once(daemon, 'exit');
    try {
      const lines = await received(written.length);
      const messages = lines.map((line) => /^<182>1 \S+ \S+ tokendesk - - - (.*)$/.exec(line)?.[1]);
      expect(messages.toSorted()).toEqual(written.toSorted());
    } finally {
      daemon.kill('SIGTERM');
      await ended;
    }
  },
);
