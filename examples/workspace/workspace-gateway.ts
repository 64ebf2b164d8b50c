import { createGateway } from "keyhole";
import { createPermissions, type PermissionQuestion, workspaceDomain } from "keyhole/agent";

/** A project's files and commands as tools. If no rule decides, a person is asked; here every answer is no. */
export function workspaceGateway(root: string, asked: PermissionQuestion[]) {
  const permissions = createPermissions({
    root,
    user: {
      allow: ["fs-write(src/**)", "shell-run(wc *)"],
      deny: ["shell-run(git push *)"],
    },
    ask: async (question) => {
      asked.push(question);
      return "deny";
    },
  });
  return createGateway({
    domains: [workspaceDomain({ permissions })],
    principal: { id: "me", scopes: [], allowWrite: true },
  });
}
