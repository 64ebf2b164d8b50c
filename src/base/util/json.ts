/** A result of `JSON.parse`. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
