// Options that several commands take.
export const CONFIG = { takes: "FILE", help: "as for keyhole serve" } as const;
export const PROFILE = {
  takes: "NAME",
  help: "only the servers and tools of this profile of the config",
} as const;
export const TRUST = {
  help: "start the servers of a JSON config and use their tools without approval",
} as const;
export const JSON_OUTPUT = { help: "print JSON" } as const;
export const REFRESH = { help: "ask all servers, even those listed within a day" } as const;
export const ALL = { help: "everything, instead of one name" } as const;
export const COUNT_MOST = 999_999_999;
