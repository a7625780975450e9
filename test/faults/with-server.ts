import { connectTo } from './desk-side.ts';
import type { DeskSide } from './desk-side.ts';
import { startFaultServer } from './fault-server.ts';
import type { FaultServer, FaultServerOptions, Script } from './fault-server.ts';
import { assertWitnessed } from './row.ts';

type ConnectOptions = Parameters<typeof connectTo>[1];

/** Runs a proof against a server of its own, and tidies up whatever comes of it. */
export async function withServer(
  proof: (server: FaultServer, desk: DeskSide) => Promise<void>,
  options: { server?: FaultServerOptions; desk?: ConnectOptions } = {},
): Promise<void> {
  const server = await startFaultServer(options.server);
  const desk = connectTo(server, options.desk);
  try {
    await proof(server, desk);
    assertWitnessed(desk);
  } finally {
    await desk.client.close();
    await server.close();
  }
}

/** Sessions as usual; everything else by the script. */
export function onOperations(script: Script): Script {
  return (hit, response, model) => {
    if (hit.operation === 'createsession') {
      model();
      return undefined;
    }
    return script(hit, response, model);
  };
}
