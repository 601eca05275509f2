package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// namespace is where the script works.
const namespace = "compare"

// homeEnv names the folder that is kubectl's home, so that what it caches is not shared.
const homeEnv = "COMPARE_HOME"

// commandTimeout is how long a command may take.
const commandTimeout = time.Minute

// output is what a command printed.
type output struct {
	Command        string
	Stdout, Stderr string
	Code           int
}

// readScript returns the commands of a script. Lines that start with # are comments.
func readScript(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var commands []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			commands = append(commands, line)
		}
	}
	return commands, nil
}

// runScript runs commands and writes what they printed to a file.
func runScript(ctx context.Context, commands []string, path string) error {
	var outputs []output
	for _, command := range commands {
		o, err := runCommand(ctx, command)
		if err != nil {
			return err
		}
		outputs = append(outputs, o)
	}
	data, err := json.Marshal(outputs)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func runCommand(ctx context.Context, command string) (output, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir = "testdata"
	cmd.Env = append(os.Environ(), "N="+namespace, "HOME="+os.Getenv(homeEnv))
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed {
		return output{}, fmt.Errorf("%s: %w", command, err)
	}
	o := output{Command: command, Stdout: stdout.String(), Stderr: stderr.String()}
	if failed {
		o.Code = exit.ExitCode()
	}
	return o, nil
}

func readOutputs(path string) ([]output, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var outputs []output
	return outputs, json.Unmarshal(data, &outputs)
}
