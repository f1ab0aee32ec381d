import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** The browser of this machine, if it has one. */
export const executablePath = find('chromium', 'chromium-browser', 'google-chrome')

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? 'chromium', args: FLAGS.split(' ') })
}

function find(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
