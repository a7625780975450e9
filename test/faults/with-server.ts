import { connectTo, type ClientSide } from './client-side.ts';
import { startFaultServer, type FaultServer, type FaultServerOptions, type Script } from './fault-server.ts';
import { assertAudited } from './row.ts';

type ConnectOptions = Parameters<typeof connectTo>[1];

/** Runs a proof against a server of its own, and tidies up whatever comes of it. */
export async function withServer(
  proof: (server: FaultServer, app: ClientSide) => Promise<void>,
  options: { server?: FaultServerOptions; app?: ConnectOptions } = {},
): Promise<void> {
  const server = await startFaultServer(options.server);
  const app = connectTo(server, options.app);
  try {
    await proof(server, app);
    assertAudited(app);
  } finally {
    await app.client.close();
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
