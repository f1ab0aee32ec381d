import { createServer } from 'node:http'
import { openServer } from './listen.ts'

/** A page on a port of its own that does nothing but load this script. */
export const openScriptPage = (script: string | Uint8Array): ReturnType<typeof openServer> =>
  openServer(
    createServer((req, res) => {
      const isScript = req.url === '/page.js'
      res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      res.end(
        isScript
          ? script
          : '<!doctype html><link rel="icon" href="data:,"><body><script src="/page.js"></script>',
      )
    }),
  )
