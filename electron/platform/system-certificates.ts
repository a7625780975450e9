import tls from 'node:tls';

/** PEM certificates the operating system trusts beyond the list Node is built with. */
export function systemCertificates(): readonly string[] {
  const builtIn = new Set(tls.getCACertificates('bundled'));
  return tls.getCACertificates('system').filter((certificate) => !builtIn.has(certificate));
}
