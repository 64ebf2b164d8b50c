import { spawn } from "node:child_process";

/** The program that opens an address on each system. It is run without a shell. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["/usr/bin/open"],
  linux: ["xdg-open"],
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};

/** Opens a web address in the browser. Returns false if that fails. */
export async function openUrl(url: URL): Promise<boolean> {
  const opener = OPENERS[process.platform];
  if (!opener || (url.protocol !== "https:" && url.protocol !== "http:")) return false;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, url.href], { stdio: "ignore", detached: true, shell: false });
  child.unref();
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
  });
}
