import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { setUpPermissions as setUp } from "../../../test/set-up-permissions.ts";

describe("sensitive paths", () => {
  verifies(["permissions:sensitive", "T22"], "sensitive paths ask whatever the rules allow", async () => {
    const everything = ["fs-read(/**)", "fs-write(/**)", "fs-delete(/**)", "fs-read(**)", "fs-write(**)"];
    const { permissions, root, home } = setUp({ user: { allow: everything } });
    writeFileSync(join(home, ".ssh/id_rsa"), "key");
    symlinkSync(join(home, ".ssh"), join(root, "docs"));
    symlinkSync(join(home, ".ssh/not-there"), join(root, "dangling"));
    writeFileSync(join(root, "plain"), "");
    symlinkSync(join(root, "plain"), join(root, ".env.link"));
    const paths = [
      join(home, ".ssh/id_rsa"),
      "docs/id_rsa",
      "docs/../.ssh/id_rsa",
      "dangling",
      ".env",
      ".ENV.local",
      "src/.env.production",
      "src/../.env",
      "./src/./../.env",
      ".env.link",
      "config/Credentials.json",
      "a/secret/b.txt",
      "a/my-Secrets.yaml",
      ".\u200benv",
      "．env",
      "server.pem",
      ".keyhole/permissions.json",
      "/proc/self/environ",
    ];
    for (const path of paths)
      expect([path, (await permissions.file("fs-read", path)).allowed]).toEqual([path, false]);
    for (const path of [".git/hooks/pre-commit", ".git/config", ".bashrc", ".vscode/tasks.json"]) {
      expect([path, (await permissions.file("fs-write", path)).allowed]).toEqual([path, false]);
    }
    expect((await permissions.file("fs-read", "plain")).allowed).toBe(true);
    expect((await permissions.file("fs-write", "/elsewhere/x")).allowed).toBe(true);
  });

  verifies(
    "permissions:sensitive",
    "files with logins ask before they are read, also behind links",
    async () => {
      const { permissions, root, home } = setUp({ user: { allow: ["fs-read(/**)", "fs-read(**)"] } });
      const secrets = [
        ".git/config",
        ".git/modules/a/config",
        ".git/config.worktree",
        "prod.env",
        ".env.production",
        ".yarnrc.yml",
        ".npmrc",
        ".pypirc",
        ".netrc",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        "prod.tfvars",
        "prod.tfvars.json",
        "kubeconfig",
        "my-kubeconfig.yaml",
        ".kube/config",
        ".aws/credentials",
        ".aws/config",
        ".docker/config.json",
        ".config/gh/hosts.yml",
        "id_ed25519",
        "deploy_rsa",
        "server.key",
        ".bash_history",
        ".m2/settings.xml",
        "auth.json",
      ];
      for (const [index, secret] of secrets.entries()) {
        mkdirSync(join(home, secret, ".."), { recursive: true });
        writeFileSync(join(home, secret), "");
        symlinkSync(join(home, secret), join(root, `link-${index}`));
        for (const path of [
          secret,
          `sub/${secret}`,
          join(home, secret),
          `link-${index}`,
          secret.toUpperCase(),
        ]) {
          expect([path, (await permissions.file("fs-read", path)).allowed]).toEqual([path, false]);
        }
      }
      const harmless = [
        ".git/HEAD",
        "src/config",
        "config",
        "environment.ts",
        "src/tfstate.ts",
        "hosts.yml",
        "keys.ts",
        "settings.xml",
        "gh/hosts.yml",
        ".github/workflows/ci.yml",
        "package.json",
        "history.ts",
      ];
      for (const path of harmless)
        expect([path, (await permissions.file("fs-read", path)).allowed]).toEqual([path, true]);
    },
  );

  test("a file that programs run later asks before it is written or deleted", async () => {
    const { permissions, asked, root } = setUp(
      { user: { allow: ["fs-write(**)", "fs-delete(**)"] } },
      "deny",
    );
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    symlinkSync(join(root, ".git/hooks"), join(root, "tools"));
    const always = [
      ".git/hooks/pre-commit",
      "tools/pre-push",
      ".husky/x",
      ".github/x.yml",
      ".gitlab-ci.yml",
      ".zshrc",
    ];
    for (const path of [
      ...always,
      "units/x.service",
      ".vscode/tasks.json",
      ".config/fish/a",
      "node_modules/.bin/a",
    ]) {
      expect([path, (await permissions.file("fs-write", path)).allowed]).toEqual([path, false]);
      expect([path, (await permissions.file("fs-delete", path)).allowed]).toEqual([path, false]);
    }
    expect(new Set(asked.map(({ reason }) => reason))).toEqual(
      new Set(["Programs run what is written there."]),
    );
    for (const path of ["src/service.ts", "src/git/hooks.ts", "docs/github.md", "bin/run"])
      expect([path, (await permissions.file("fs-write", path)).allowed]).toEqual([path, true]);
  });

  test("a build file is written only by a rule that names it", async () => {
    const rules = [
      "fs-write(**)",
      "fs-write(src/*)",
      "fs-delete(**)",
      "fs-write(package.json)",
      "shell-run(cp *)",
    ];
    const { permissions, asked } = setUp({ user: { allow: [...rules, "shell-run(cp a Makefile)"] } }, "deny");
    expect((await permissions.file("fs-write", "package.json")).allowed).toBe(true);
    for (const path of ["src/package.json", "Makefile", "vite.config.ts", "Dockerfile", "AGENTS.md"]) {
      expect([path, (await permissions.file("fs-write", path)).allowed]).toEqual([path, false]);
      expect([path, (await permissions.file("fs-delete", path)).allowed]).toEqual([path, true]);
    }
    expect(asked[0]?.always).toEqual(["fs-write(src/package.json)"]);
    expect(asked[0]?.reason).toContain("no rule names the file itself");
    expect((await permissions.command("cp a Makefile")).allowed).toBe(true);
    expect((await permissions.command("cp a b")).allowed).toBe(true);
    expect((await permissions.command("cp b Makefile")).allowed).toBe(false);
    expect(asked.at(-1)?.reason).toBe("No rule allows cp b Makefile. It may write a file that builds run.");
  });
});
