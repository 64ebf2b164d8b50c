import { createGateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { skillSource } from "./skill-source.ts";

// A server over stdio that has the skills of the folder it is given.
const [, , folder = ""] = process.argv;
createMcpServer(createGateway({ domains: [], sources: [skillSource("lib", folder)] })).connect();
