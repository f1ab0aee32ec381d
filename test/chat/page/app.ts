import { APP, NEXT, nextEnvironment } from '../../../examples/chat/demo/build.ts'
import { freePort } from '../../kit/listen.ts'
import { type Program, startProgram } from '../../kit/program.ts'

/** A started instance of the built app. */
export interface ChatApp {
  readonly origin: string
  readonly port: number
  readonly program: Program
}

export interface ChatAppOptions {
  readonly port?: number
  /** Tokens a second of the scripted model. */
  readonly speed?: number
  readonly storageUrl?: string
}

/** Starts the app that `buildChat` has built, with the scripted model. The caller ends its process. */
export async function startChat({
  port,
  speed = 150,
  storageUrl = '',
}: ChatAppOptions = {}): Promise<ChatApp> {
  const own = port ?? (await freePort())
  const args = [NEXT, 'start', APP, '-p', String(own), '-H', '127.0.0.1']
  const program = startProgram(process.execPath, args, {
    ...nextEnvironment(),
    NEXT_MANUAL_SIG_HANDLE: '1',
    SPEED: String(speed),
    STORAGE_URL: storageUrl,
    OPENAI_API_KEY: '',
    ANTHROPIC_API_KEY: '',
    GOOGLE_API_KEY: '',
    GEMINI_API_KEY: '',
  })
  await program.output(/Ready in/)
  return { origin: `http://127.0.0.1:${own}`, port: own, program }
}
