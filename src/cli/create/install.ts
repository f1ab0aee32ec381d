import { spawn } from 'node:child_process'
import type { Terminal } from '../terminal.ts'

export type Manager = 'npm' | 'pnpm' | 'yarn' | 'bun'

/** The package manager that runs this command, otherwise npm. */
export function managerOf({ env }: Terminal): Manager {
  const [, name] = /^(pnpm|yarn|bun)\//.exec(env.npm_config_user_agent ?? '') ?? []
  return (name ?? 'npm') as Manager
}

/** Installs a project's packages. Returns whether it worked. */
export async function install(
  folder: string,
  manager: Manager,
  { out, problem }: Terminal,
): Promise<boolean> {
  const args = ['install', ...(manager === 'npm' ? ['--no-audit', '--no-fund'] : [])]
  out(`Running ${manager} install…`)
  // On Windows, package managers are scripts for its shell.
  const shell = process.platform === 'win32'
  const child = spawn(manager, args, { cwd: folder, stdio: 'inherit', shell })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  if (code !== 0) problem(`${manager} install failed. Run it again in the folder.`)
  return code === 0
}
