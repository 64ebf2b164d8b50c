import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const VERSION = "v1.";
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Seals texts, each bound to a name: without the secret, a text cannot be read, changed or moved. */
export type Seal = ReturnType<typeof createSeal>;

/**
 * Creates a seal for one purpose, with keys derived from secrets. The first secret seals, all of them open: put a new
 * secret first and drop the old one when no text is sealed with it any more.
 */
export function createSeal([secret, ...older]: readonly [SealSecret, ...SealSecret[]], purpose: string) {
  const toKey = (one: SealSecret) => Buffer.from(hkdfSync("sha256", one, "", purpose, 32));
  const key = toKey(secret);
  const keys = [key, ...older.map(toKey)];
  return {
    seal: (text: string, boundTo: string): string => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(boundTo));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
    },
    /** Undefined if the text was changed, forged, or sealed for another name or with another secret. */
    open: (sealed: string, boundTo: string): string | undefined => {
      if (!sealed.startsWith(VERSION)) return undefined;
      const encoded = sealed.slice(VERSION.length);
      const bytes = Buffer.from(encoded, "base64url");
      // Lenient decoding would accept many encodings of one text.
      if (bytes.toString("base64url") !== encoded || bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
      for (const one of keys) {
        const text = decipher(one, bytes, boundTo);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

type SealSecret = string | Uint8Array;

function decipher(key: Buffer, bytes: Buffer, boundTo: string): string | undefined {
  try {
    const one = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    one.setAAD(Buffer.from(boundTo));
    one.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const body = [one.update(bytes.subarray(IV_BYTES + TAG_BYTES)), one.final()];
    return Buffer.concat(body).toString("utf8");
  } catch {
    return undefined;
  }
}
