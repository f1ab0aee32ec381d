import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runIn } from './commands.ts'

/** What `docker run` would start. */
export interface Image {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly command: readonly string[]
}

/**
 * Follows the Dockerfile of a project without Docker: each stage is a folder, in which its commands run. Users and
 * the versions of the image are not tested.
 */
export async function buildImage(project: string, place: string): Promise<Image> {
  const ignored = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  const stages: string[] = []
  let env: Record<string, string> = {}
  let command: readonly string[] = []
  const inStage = (path: string, stage = stages.at(-1)!) => join(stage, path.replace(/^\/app\/?/, ''))
  for (const line of readFileSync(join(project, 'Dockerfile'), 'utf8').replace(/\\\n/g, '').split('\n')) {
    const [, word = '', rest = ''] = /^(\w+) (.*)$/.exec(line) ?? []
    if (word === 'FROM') {
      stages.push(join(place, `stage-${stages.length}`))
      mkdirSync(join(stages.at(-1)!, 'data'), { recursive: true })
      env = {}
    } else if (word === 'COPY') {
      const paths = rest.split(' ').filter((path) => !path.startsWith('--'))
      const from = rest.includes('--from=') ? stages[0]! : project
      const isIgnored = (path: string) =>
        from === project && ignored.some((name) => path.startsWith(join(project, name.replace(/\*.*/, '?'))))
      const to = paths.pop()!
      for (const path of paths)
        cpSync(
          inStage(path, from),
          inStage(paths.length > 1 || to === './' ? join(to, path.replace('/app/', '')) : to),
          {
            recursive: true,
            filter: (path) => !isIgnored(path),
          },
        )
    } else if (word === 'ENV') {
      for (const [, name, value] of rest.matchAll(/(\w+)=(\S+)/g))
        env[name!] = value!.replace('/data', join(stages.at(-1)!, 'data'))
    } else if (word === 'RUN' && !rest.includes('chown')) await runIn(stages.at(-1)!, 'sh', ['-c', rest], env)
    else if (word === 'CMD') command = JSON.parse(rest)
  }
  return { folder: stages.at(-1)!, env, command }
}
