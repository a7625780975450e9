import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { operationNames, operations, pathOf } from '../../../electron/built-in-service/operations.ts';
import { portalOperations } from '../../../electron/built-in-service/portal.ts';
import { runService, type RunningService } from '../../../electron/built-in-service/service.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { connect, type Client } from '../../support/service-client.ts';

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { required?: string[]; properties?: Record<string, object> }>>;
  };
}

let service: RunningService;
let client: Client;
let text: string;
let document: Document;

beforeAll(async () => {
  service = await runService({ secret: new Uint8Array(32).fill(5), seed: defaultSeed as Seed });
  client = connect(service.facts);
  const answer = await client.send('GET', '/openapi.json?pretty');
  text = answer.text;
  document = answer.body as unknown as Document;
});
afterAll(async () => {
  await client.close();
  await service.stop();
});

describe('the OpenAPI document', () => {
  it('lints clean', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
    const file = join(folder, 'openapi.json');
    writeFileSync(file, text);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        join(import.meta.dirname, '../../../node_modules/@redocly/cli/bin/cli.js'),
        'lint',
        file,
        '--format=json',
      ],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 } });
    rmSync(folder, { recursive: true });
  });

  it('names this server, every operation, and what each one takes', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.servers[0]?.url).toBe(service.facts.baseUrl);
    const portal = Object.values(portalOperations).map(({ path }) => path);
    expect(Object.keys(document.paths).sort()).toEqual(
      [...operationNames.map(pathOf), ...portal, '/openapi.json'].sort(),
    );
    for (const name of operationNames) {
      const { properties } = document.components.schemas[`${name}Request`] ?? {};
      expect(Object.keys(properties ?? {})).toEqual(Object.keys(operations[name].input.shape));
    }
    expect(document.components.schemas.CreateSessionRequest?.required).toEqual([
      'apiKey',
      'policy',
      'policyPassword',
    ]);
    expect(document.components.schemas.QueryLastFailedRequestsRequest?.required).not.toContain('max');
  });

  it('says of each path the methods that the server has there, and no others', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const { status, headers } = await client.send('PUT', path);
      expect(status).toBe(405);
      expect(headers.allow, path).toBe(Object.keys(methods).join(', ').toUpperCase());
    }
  });
});
