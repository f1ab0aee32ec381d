// #region deployer
import type { Deployer } from 'agentwire/control-plane'

export const deployer: Deployer = {
  refuses: ({ source }) => (source === 'external_docker' ? undefined : 'Only images are deployed here.'),
  async deploy({ sourceRevisionConfig, secrets, signal, log }) {
    log(`Starts ${sourceRevisionConfig.image_uri}.`)
    const { url, id } = await startContainer(sourceRevisionConfig.image_uri!, secrets, signal)
    return { url, handle: { id } }
  },
  stop: ({ handle }) => stopContainer((handle as { id: string }).id),
  destroy: async () => {},
}

/** Calls your platform, and waits until `GET /ok` of the container returns 200. */
async function startContainer(
  image: string,
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ url: string; id: string }> {
  const body = JSON.stringify({ image, environment })
  const response = await fetch('https://platform.example.com/containers', { method: 'POST', body, signal })
  if (!response.ok) throw new Error(`The platform answered ${response.status}.`)
  return response.json()
}

async function stopContainer(id: string): Promise<void> {
  await fetch(`https://platform.example.com/containers/${id}`, { method: 'DELETE' })
}
// #endregion
