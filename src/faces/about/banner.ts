import type { ServerAbout } from './about.ts'

const SIGN_IN: Readonly<Record<ServerAbout['signIn'], string>> = {
  authenticate: 'authenticate',
  principal: 'principal of the adapter',
  none: 'none: anyone who can reach this server can read and change every thread',
}

/** Lines for a terminal: what is served below `url`, and how. */
export function bannerOf(about: ServerAbout, url: string): string {
  const { agents, doors, devtools, storage, isDurable, signIn, errors } = about
  return [
    `agentwire serves ${url}`,
    `  agents   ${agents.join(', ')}`,
    `  doors    ${doors.map(({ name, path }) => `${name} ${path}`).join(', ')}`,
    `  storage  ${storage}${isDurable ? '' : ': a restart loses all threads'}`,
    `  sign-in  ${SIGN_IN[signIn]}`,
    `  errors   clients see ${errors === 'text' ? 'the text of an agent’s error' : 'an error id'}`,
    ...(devtools ? [`  devtools ${url}/devtools`] : []),
  ].join('\n')
}
