// Starts the language server of tilevm when a .tile file is opened, and stops it with the editor.
const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const [command, ...args] = workspace.getConfiguration("tilevm").get("server");
  client = new LanguageClient("tilevm", "tilevm", { command, args }, { documentSelector: [{ language: "tile" }] });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`${command} does not start: ${error.message}. Install it with: pip install 'tilevm[lsp]'`);
  }
}

function deactivate() {
  return client?.isRunning() ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
