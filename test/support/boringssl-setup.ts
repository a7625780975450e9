/**
 * Before each test file: what Electron's BoringSSL has not is not there for the code under test either. A test that needs
 * OpenSSL takes `openSsl` of the module.
 */
import { installBoringSsl } from '../../dev/electron-on-chromium/boringssl.ts';

installBoringSsl();
